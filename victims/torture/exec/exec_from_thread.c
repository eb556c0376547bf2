/* A thread execs while main and others allocate: they vanish amid their calls, and the process has another thread's number.
 *
 * @uncounted: the second recorder has no word for a call that never came to its end
 */
#include "../torture.h"

static volatile int begun;

static void *busy(void *nothing)
{
    __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED);
    for (;;)
        churn(50);
    return nothing;
}

static void *execs(void *next)
{
    while (begun < 4)
        churn(10);
    execl("/proc/self/exe", "exec_from_thread", (char *)next, (char *)NULL);
    CHECK(!"exec");
}

int main(int argc, char **argv)
{
    int image = argc > 1 ? atoi(argv[1]) : 0;
    char next[12];
    if (image == 5) {
        churn(50);
        say("five images\n");
        return 0;
    }
    snprintf(next, sizeof next, "%d", image + 1);
    for (int i = 0; i < 3; i++)
        start_thread(busy, NULL);
    start_thread(execs, next);
    busy(NULL);
}
