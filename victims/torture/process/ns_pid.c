/* The first process of a process namespace is number 1 there, and so is that of the next: each needs a log of its own.
 *
 * @uncounted: the second recorder's files are called by numbers, too
 */
#include "../torture.h"
#include <sched.h>

int main(void)
{
    churn(100);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            if (unshare(CLONE_NEWPID) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0)
                skip("no process namespaces: %s", strerror(errno));
            pid_t first = fork();
            CHECK(first >= 0);
            if (!first) {
                CHECK(getpid() == 1);
                churn(3000);
                pid_t second = fork();
                CHECK(second == 2 || second == 0);
                churn(1000);
                if (!second)
                    exit(0);
                CHECK(status_of(second) == 0);
                exit(0);
            }
            churn(500);
            exit(status_of(first));
        }
        int status = status_of(child);
        if (status)
            return status;
    }
    say("three first processes\n");
    return 0;
}
