/* Coroutines made by the trick with sigaltstack: a handler's frame on the alternate stack is left by siglongjmp and entered
 * again by another. What lies above on that stack is a signal frame long over. */
#include "../torture.h"
#include <setjmp.h>

enum { ROUTINES = 6, SIZE = 64 * 1024 };
static sigjmp_buf scheduler, routines[ROUTINES];
static volatile int current, turns;

__attribute__((noipa)) static void body(void)
{
    for (;;) {
        churn(30);
        turns = turns + 1;
        if (!sigsetjmp(routines[current], 0))
            siglongjmp(scheduler, 1);
    }
}

static void on_signal(int number)
{
    (void)number;
    if (sigsetjmp(routines[current], 0))
        body();
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (int i = 0; i < ROUTINES; i++) {
        stack_t stack = {.ss_sp = keep(malloc(SIZE)), .ss_size = SIZE}, none = {.ss_flags = SS_DISABLE};
        CHECK(sigaltstack(&stack, NULL) == 0);
        current = i;
        CHECK(raise(SIGUSR1) == 0);
        CHECK(sigaltstack(&none, NULL) == 0);
    }
    for (volatile int i = 0; i < 300; i++) {
        current = i % ROUTINES;
        if (!sigsetjmp(scheduler, 0))
            siglongjmp(routines[current], 1);
    }
    say("%d turns\n", turns);
    return 0;
}
