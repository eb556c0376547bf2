/* A fault that nobody handles, in a thread, while others allocate: the signal is the kernel's own.
 *
 * @uncounted: the second recorder has no word for a call that never came to its end
 */
#include "../torture.h"
#include <sys/resource.h>

static volatile int begun;

static void *busy(void *nothing)
{
    __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED);
    for (;;)
        churn(50);
    return nothing;
}

static void *faults(void *nothing)
{
    while (begun < 4)
        churn(50);
    *(volatile int *)keep(NULL) = 1;
    return nothing;
}

int main(void)
{
    struct rlimit none = {0, 0};
    CHECK(setrlimit(RLIMIT_CORE, &none) == 0);
    for (int i = 0; i < 4; i++)
        start_thread(busy, NULL);
    start_thread(faults, NULL);
    busy(NULL);
}
