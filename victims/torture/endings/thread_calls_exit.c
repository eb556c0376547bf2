/* A thread that is not main calls exit: the handlers allocate and free there, while main waits for it. */
#include "../torture.h"

static void *kept[3];

static void at_exit(void)
{
    free(kept[0]);
    churn(300);
    say("left\n");
}

static __attribute__((destructor)) void at_end(void)
{
    free(kept[1]);
    churn(100);
}

static void *thread(void *unused)
{
    (void)unused;
    kept[2] = keep(malloc(30));
    churn(100);
    exit(7);
}

int main(void)
{
    CHECK(atexit(at_exit) == 0);
    kept[0] = keep(malloc(10));
    kept[1] = keep(malloc(20));
    join_thread(start_thread(thread, NULL));
    return 1;
}
