/* chroot into an empty folder: the log's name means nothing there, /proc is gone, and the log wants to grow.
 *
 * @may lack: a child can make no log
 * @uncounted: nor can the second recorder
 */
#include "../torture.h"
#include <sched.h>
#include <sys/stat.h>

int main(void)
{
    churn(100);
    CHECK(mkdir("jail", 0755) == 0);
    if (chroot("jail") < 0) {
        uid_t self = getuid();
        if (unshare(CLONE_NEWUSER) < 0 || chroot("jail") < 0)
            skip("user %d may not chroot", (int)self);
    }
    CHECK(chdir("/") == 0);
    churn(60000);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        churn(10000);
        exit(3);
    }
    CHECK(status_of(child) == 3);
    struct stat about;
    CHECK(stat("/proc", &about) == -1 && errno == ENOENT);
    CHECK(stat("/tmp", &about) == -1 && errno == ENOENT);
    say("in jail\n");
    return 0;
}
