/* quick_exit runs handlers of its own, which allocate, and none of exit's; here amid threads that allocate, and in children.
 *
 * @may lack: a child that ends this way, or by _Exit, is not seen to end
 * @uncounted: the second recorder has no word for a call that never came to its end
 */
#include "../torture.h"

static void *kept;

static void first_handler(void)
{
    churn(50);
    free(kept);
    say("first\n");
}

static void second_handler(void)
{
    churn(50);
    kept = keep(malloc(3000));
    say("second\n");
}

static void never(void)
{
    say("never\n");
}

static void *busy(void *nothing)
{
    for (;;)
        churn(50);
    return nothing;
}

int main(void)
{
    for (int i = 0; i < 4; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            churn(i % 2 ? 5000 : 5);
            if (i < 2)
                quick_exit(i);
            _Exit(i);
        }
        CHECK(status_of(child) == i);
    }
    CHECK(at_quick_exit(first_handler) == 0 && at_quick_exit(second_handler) == 0 && atexit(never) == 0);
    for (int i = 0; i < 4; i++)
        start_thread(busy, NULL);
    churn(200);
    quick_exit(14);
}
