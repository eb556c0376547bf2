/* In a mount namespace of its own the program puts an empty file system over the log's folder: the log is not to be reached,
 * and nothing of it may come to lie in what is there instead.
 *
 * @may lack: the child may find its folder gone
 * @uncounted: nor can the second recorder
 */
#include "../torture.h"
#include <dirent.h>
#include <sched.h>
#include <sys/mount.h>

static void hide(const char *path)
{
    CHECK(mount("none", path, "tmpfs", 0, "size=1m") == 0);
    churn(50000);
    DIR *folder = opendir(path);
    CHECK(folder);
    int entries = 0;
    while (readdir(folder))
        entries++;
    closedir(folder);
    CHECK(entries == 2);
}

int main(void)
{
    churn(100);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        churn(1000);
        if (unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
            skip("no mount namespaces: %s", strerror(errno));
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
            skip("no mounts: %s", strerror(errno));
        const char *logs = getenv("MEMLOG_DIR");
        hide(logs ? logs : ".");
        exit(0);
    }
    churn(1000);
    return status_of(child);
}
