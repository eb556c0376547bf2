/* Coroutines that share one stack: the bytes of each are copied out when it waits and in again when it goes on. The same
 * stack addresses hold other frames each time. */
#include "../torture.h"
#include <ucontext.h>

enum { ROUTINES = 5, SIZE = 32 * 1024 };
static char stack[SIZE] __attribute__((aligned(64)));
static char *saved[ROUTINES];
static ucontext_t scheduler, routines[ROUTINES];
static int turns;

__attribute__((noipa)) static void dive(int who, int depth)
{
    void *p = keep(malloc(100));
    if (depth)
        dive(who, depth - 1);
    else
        swapcontext(&routines[who], &scheduler);
    free(p);
    turns++;
}

static void routine(int who)
{
    for (int i = 0;; i++)
        dive(who, (i + who) % 10);
}

int main(void)
{
    for (volatile int i = 0; i < ROUTINES; i++) {
        saved[i] = keep(malloc(SIZE));
        CHECK(getcontext(&routines[i]) == 0);
        routines[i].uc_stack.ss_sp = stack;
        routines[i].uc_stack.ss_size = SIZE;
        makecontext(&routines[i], (void (*)(void))routine, 1, i);
        memcpy(saved[i], stack, SIZE);
    }
    for (int i = 0; i < 500; i++) {
        memcpy(stack, saved[i % ROUTINES], SIZE);
        CHECK(swapcontext(&scheduler, &routines[i % ROUTINES]) == 0);
        memcpy(saved[i % ROUTINES], stack, SIZE);
        memset(stack, 0xee, SIZE);
    }
    say("%d turns\n", turns);
    return 0;
}
