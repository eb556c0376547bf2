/* Signals interrupt the allocator and the recorder anywhere, thousands of times, on an alternate stack; their handlers do not
 * allocate. Nothing may be lost or seen twice, and no call may fail with EINTR. */
#include "../torture.h"
#include <sys/time.h>

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
    (void)number;
    handled = handled + 1;
}

int main(void)
{
    stack_t stack = {.ss_sp = keep(malloc(65536)), .ss_size = 65536};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    CHECK(sigaltstack(&stack, NULL) == 0);
    CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
    while (handled < 1000)
        churn(100);
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    say("interrupted often\n");
    return 0;
}
