/* A handler on the alternate stack makes many allocations: finding what the signal interrupted may not cost a look at all
 * mappings for each of them.
 */
#include "../torture.h"

static void on_signal(int number)
{
    (void)number;
    churn(150000);
}

int main(void)
{
    stack_t stack = {.ss_sp = keep(malloc(65536)), .ss_size = 65536};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    CHECK(sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(raise(SIGUSR1) == 0);
    say("much\n");
    return 0;
}
