/* Coroutines that are resumed by one thread after the other: what was allocated under one is freed under the next. */
#include "../torture.h"
#include <ucontext.h>

enum { ROUTINES = 8, SIZE = 32 * 1024, THREADS = 12 };
static ucontext_t routines[ROUTINES], back;
static char stacks[ROUTINES][SIZE];
static int turns;

static void routine(int who)
{
    void *p = NULL;
    for (size_t i = 1;; i++) {
        free(p);
        p = keep(malloc(i * 100));
        turns++;
        swapcontext(&routines[who], &back);
    }
}

static void *thread(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUTINES * 5; i++)
        CHECK(swapcontext(&back, &routines[i % ROUTINES]) == 0);
    return NULL;
}

int main(void)
{
    for (volatile int i = 0; i < ROUTINES; i++) {
        CHECK(getcontext(&routines[i]) == 0);
        routines[i].uc_stack.ss_sp = stacks[i];
        routines[i].uc_stack.ss_size = SIZE;
        makecontext(&routines[i], (void (*)(void))routine, 1, i);
    }
    for (int i = 0; i < THREADS; i++)
        join_thread(start_thread(thread, NULL));
    say("%d turns\n", turns);
    return 0;
}
