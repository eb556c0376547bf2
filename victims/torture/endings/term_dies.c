/* SIGTERM, whose handler allocates, gives the signal its default back and raises it again. */
#include "../torture.h"

static void *held;

static void on_term(int number)
{
    free(held);
    churn(100);
    say("terminated\n");
    signal(number, SIG_DFL);
    raise(number);
}

int main(void)
{
    held = keep(malloc(3333));
    signal(SIGTERM, on_term);
    churn(100);
    raise(SIGTERM);
    say("the end is held back as long as the handler runs\n");
    return 1;
}
