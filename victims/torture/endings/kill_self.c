/* The process kills itself while its threads allocate, and no handler of anybody's runs.
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

int main(void)
{
    for (int i = 0; i < 8; i++)
        start_thread(busy, NULL);
    while (begun < 8)
        churn(50);
    say("now\n");
    kill(getpid(), SIGKILL);
    return 1;
}
