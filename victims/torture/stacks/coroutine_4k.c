/* Coroutines on stacks of 4 KiB from malloc, with marks at their ends that nobody may reach; the stacks are freed while
 * others run. */
#include "../torture.h"
#include <ucontext.h>

enum { ROUTINES = 12, SIZE = 4096, MARK = 64 };
static ucontext_t scheduler, routines[ROUTINES];
static char *stacks[ROUTINES];
static int turns[ROUTINES];

static void routine(int who)
{
    void *p = NULL;
    for (int i = 0; i < 20; i++) {
        free(p);
        p = keep(malloc(300));
        churn(20);
        turns[who]++;
        swapcontext(&routines[who], &scheduler);
    }
    free(p);
}

static void make(int who)
{
    stacks[who] = keep(malloc(SIZE));
    memset(stacks[who], 0x77, SIZE);
    CHECK(getcontext(&routines[who]) == 0);
    routines[who].uc_stack.ss_sp = stacks[who];
    routines[who].uc_stack.ss_size = SIZE;
    routines[who].uc_link = &scheduler;
    makecontext(&routines[who], (void (*)(void))routine, 1, who);
}

int main(void)
{
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < ROUTINES; i++)
            make(i);
        for (int turn = 0; turn < 21; turn++)
            for (int i = 0; i < ROUTINES; i++)
                CHECK(swapcontext(&scheduler, &routines[i]) == 0);
        for (int i = 0; i < ROUTINES; i++) {
            for (int at = 0; at < MARK; at++)
                CHECK(stacks[i][at] == 0x77);
            free(stacks[i]);
        }
    }
    CHECK(turns[ROUTINES - 1] == 100);
    say("coroutines\n");
    return 0;
}
