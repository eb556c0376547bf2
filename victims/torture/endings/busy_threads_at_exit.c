/* Threads allocate all the time while main returns and handlers of atexit allocate: none of them is stopped before the process is.
 *
 * @uncounted: the kernel ends threads between the notes of the one recorder and those of the other
 */
#include "../torture.h"

static int started;

static void *thread(void *unused)
{
    (void)unused;
    __atomic_add_fetch(&started, 1, __ATOMIC_RELEASE);
    for (;;)
        churn(100);
    return NULL;
}

static void at_exit(void)
{
    churn(3000);
    say("left\n");
}

int main(void)
{
    CHECK(atexit(at_exit) == 0);
    for (int i = 0; i < 20; i++)
        start_thread(thread, NULL);
    while (__atomic_load_n(&started, __ATOMIC_ACQUIRE) < 20)
        usleep(1000);
    churn(1000);
    return 3;
}
