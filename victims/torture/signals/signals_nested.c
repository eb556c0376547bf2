/* A handler raises the next signal, whose handler raises the next, each of them with allocations before and after. */
#include "../torture.h"

enum { FIRST = 40, LAST = 60 };
static int deepest;

static void on_signal(int number)
{
    void *p = keep(malloc((size_t)number));
    churn(5);
    if (number < LAST)
        CHECK(raise(number + 1) == 0);
    if (number > deepest)
        deepest = number;
    churn(5);
    free(p);
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    for (int i = FIRST; i <= LAST; i++)
        CHECK(sigaction(i, &action, NULL) == 0);
    for (int i = 0; i < 20; i++)
        CHECK(raise(FIRST) == 0);
    CHECK(deepest == LAST);
    say("%d handlers deep\n", LAST - FIRST + 1);
    return 0;
}
