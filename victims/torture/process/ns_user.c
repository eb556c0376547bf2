/* unshare(CLONE_NEWUSER) in main is refused to a process with more than one thread: a recorder must have none of its own. */
#include "../torture.h"
#include <sched.h>

int main(void)
{
    churn(3000);
    if (unshare(CLONE_NEWUSER) < 0) {
        if (errno == EINVAL)
            say("there is a thread\n");
        skip("no user namespaces: %s", strerror(errno));
    }
    churn(30000);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        churn(3000);
        exit(4);
    }
    CHECK(status_of(child) == 4);
    say("user %d\n", (int)getuid());
    return 0;
}
