/* The log's folder is missing, is a file, may not be written to, or may not be executed from, is named in an odd way: the
 * program is as without, and says nothing.
 *
 * @uncounted: the second image has its log elsewhere, or none
 */
#include "../torture.h"
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

static void again(const char *folder)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        CHECK(setenv("MEMLOG_DIR", folder, 1) == 0);
        execl("/proc/self/exe", "log_folders", "again", NULL);
        _exit(96);
    }
    CHECK(status_of(child) == 5);
}

static void mounted(unsigned long flags)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        if ((unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
            || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || mount("none", "special", "tmpfs", flags, "size=16m") < 0)
            skip("no mounts: %s", strerror(errno));
        again("special");
        exit(0);
    }
    int status = status_of(child);
    if (status)
        exit(status);
}

int main(int argc, char **argv)
{
    (void)argv;
    churn(argc > 1 ? 20000 : 100);
    if (argc > 1)
        exit(5);
    char name[300];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = 0;
    CHECK(close(open("file", O_CREAT | O_EXCL | O_WRONLY, 0644)) == 0);
    CHECK(symlink("loop", "loop") == 0 && mkdir("special", 0755) == 0 && mkdir("odd \n%p%%\xff;", 0755) == 0);
    again("missing/folder");
    again("file");
    again("loop");
    again("/dev/null");
    again("/proc/self/fd");
    again(name);
    again("odd \n%p%%\xff;");
    mounted(MS_RDONLY);
    mounted(MS_NOEXEC | MS_NOSUID | MS_NODEV);
    DIR *odd = opendir("odd \n%p%%\xff;");
    CHECK(odd);
    for (struct dirent *entry; (entry = readdir(odd));)
        if (strstr(entry->d_name, ".memlog"))
            CHECK(unlinkat(dirfd(odd), entry->d_name, 0) == 0);
    closedir(odd);
    say("nine folders\n");
    return 0;
}
