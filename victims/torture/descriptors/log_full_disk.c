/* The log's disk is full, at once or soon: no SIGBUS, no word on the program's standard error, and no harm to it.
 *
 * @uncounted: the second image's log lies where nobody looks
 */
#include "../torture.h"
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
    churn(argc > 1 ? 60000 : 100);
    if (argc > 1) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            churn(20000);
            exit(atoi(argv[1]));
        }
        exit(status_of(child));
    }
    char here[4096], sizes[3][12] = {"size=4k", "size=160k", "size=300k"};
    CHECK(getcwd(here, 4000));
    CHECK(mkdir("disk", 0777) == 0);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            if (unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
                skip("no mount namespaces: %s", strerror(errno));
            if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || mount("none", "disk", "tmpfs", 0, sizes[i]) < 0)
                skip("no mounts: %s", strerror(errno));
            CHECK(setenv("MEMLOG_DIR", strcat(here, "/disk"), 1) == 0);
            execl("/proc/self/exe", "log_full_disk", "5", NULL);
            _exit(96);
        }
        int status = status_of(child);
        if (status != 5)
            return status;
    }
    CHECK(rmdir("disk") == 0);
    say("three full disks\n");
    return 0;
}
