/* One handler with SA_NODEFER interrupts itself, two hundred deep, and allocates at each level. */
#include "../torture.h"

static int depth, deepest;

static void on_signal(int number)
{
    void *p = keep(malloc(64));
    if (++depth < 200)
        CHECK(raise(number) == 0);
    if (depth-- > deepest)
        deepest = depth + 1;
    free(keep(realloc(p, 3000)));
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_NODEFER};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (int i = 0; i < 5; i++)
        CHECK(raise(SIGUSR1) == 0);
    CHECK(depth == 0 && deepest == 200);
    say("two hundred deep\n");
    return 0;
}
