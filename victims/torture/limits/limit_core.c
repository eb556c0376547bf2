/* No core files are wanted, and the child aborts in the middle of its allocations.
 *
 * @may lack: it is killed
 */
#include "../torture.h"
#include <sys/resource.h>

int main(void)
{
    struct rlimit limit = {0, 0};
    CHECK(setrlimit(RLIMIT_CORE, &limit) == 0);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            void *left = keep(malloc(1000));
            churn(3000 * i);
            if (left)
                abort();
        }
        CHECK(status_of(child) == 1000 + SIGABRT);
        churn(100);
    }
    say("three aborted\n");
    return 0;
}
