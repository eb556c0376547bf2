/* Handlers that allocated are left by siglongjmp, thousands of times, at several depths: no return of theirs is ever seen. */
#include "../torture.h"
#include <setjmp.h>

static sigjmp_buf way_out;
static void *held;

static void on_signal(int number)
{
    free(held);
    held = keep(malloc((size_t)number * 10));
    siglongjmp(way_out, 1);
}

__attribute__((noipa)) static void dive(int depth)
{
    free(keep(malloc(20)));
    if (!depth)
        raise(SIGUSR1);
    else
        dive(depth - 1);
    __asm__ volatile("");
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (volatile int i = 0; i < 2000; i++)
        if (!sigsetjmp(way_out, 1)) {
            dive(i % 30);
            return 1;
        }
    free(held);
    say("two thousand ways out\n");
    return 0;
}
