/* Children that are number 1, each in a world of its own, and theirs, which are number 2; and a fork that fails, for its
 * world has ended.
 *
 * @uncounted: a child knows another number of itself than its parent does
 */
#include "../torture.h"
#include <sched.h>

int main(void)
{
    for (int i = 0; i < 3; i++) {
        pid_t outer = fork();
        CHECK(outer >= 0);
        if (!outer) {
            if (unshare(CLONE_NEWPID) < 0)
                exit(77);
            pid_t first = fork();
            CHECK(first >= 0);
            if (!first) {
                CHECK(getpid() == 1);
                churn(200);
                pid_t second = fork();
                CHECK(second >= 0);
                churn(200);
                if (!second)
                    exit(getpid());
                CHECK(status_of(second) == 2);
                exit(31);
            }
            CHECK(status_of(first) == 31);
            CHECK(fork() == -1 && errno == ENOMEM);
            churn(200);
            exit(32);
        }
        int status = status_of(outer);
        if (status == 77)
            skip("no namespace of processes may be made");
        CHECK(status == 32);
    }
    say("three worlds\n");
    return 0;
}
