/* vfork when no file can be opened: the child is its parent's memory.
 *
 * @may lose: the log cannot be made longer
 * @uncounted: what is lost is missing
 */
#include "../torture.h"
#include <sys/resource.h>

int main(void)
{
    churn(100);
    struct rlimit limit = {3, 3};
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    for (volatile int i = 0; i < 50; i++) {
        volatile int mark = 0;
        pid_t child = vfork();
        CHECK(child >= 0);
        if (!child) {
            mark = 1;
            if (i % 2)
                execl("/nonexistent/program", "x", NULL);
            _exit(i);
        }
        CHECK(mark == 1 && status_of(child) == i);
        churn(500);
    }
    say("fifty children\n");
    return 0;
}
