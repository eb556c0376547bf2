/* /proc is not mounted, as in a bare chroot: an image that starts there finds no maps, no auxiliary vector and no environment
 * in files, and leaves no file where nobody asked for one.
 *
 * @uncounted: the second recorder has its settings from /proc
 */
#include "../torture.h"
#include <dirent.h>
#include <sched.h>
#include <sys/mount.h>

static void *work(void *nothing)
{
    churn(3000);
    return nothing;
}

int main(int argc, char **argv)
{
    (void)argv;
    churn(1000);
    if (argc > 1) {
        CHECK(access("/proc/self", F_OK) == -1);
        churn(20000);
        join_thread(start_thread(work, NULL));
        exit(5);
    }
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0)
        skip("no /proc");
    path[length] = 0;
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        if ((unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
            || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || mount("none", "/proc", "tmpfs", 0, "size=1m") < 0)
            skip("no mounts: %s", strerror(errno));
        churn(20000);
        execl(path, "proc_missing", "again", NULL);
        _exit(96);
    }
    int status = status_of(child);
    if (status != 5)
        return status;
    DIR *here = opendir(".");
    CHECK(here);
    int entries = 0;
    while (readdir(here))
        entries++;
    closedir(here);
    CHECK(entries == 2);
    say("without /proc\n");
    return 0;
}
