/* While the program runs its log is moved away, with its folder, or replaced by a pipe, a link to a precious file, or another
 * file of the name: nothing of it is written to, and the program goes on.
 *
 * @uncounted: the second image's log lies where nobody looks
 */
#include "../torture.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

static void replace(int how)
{
    DIR *folder = opendir("logs");
    CHECK(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (!strstr(entry->d_name, ".memlog"))
            continue;
        CHECK(unlinkat(dirfd(folder), entry->d_name, 0) == 0);
        if (how == 1)
            CHECK(mkfifoat(dirfd(folder), entry->d_name, 0666) == 0);
        if (how == 2)
            CHECK(symlinkat("../precious", dirfd(folder), entry->d_name) == 0);
        if (how == 3)
            CHECK(linkat(AT_FDCWD, "precious", dirfd(folder), entry->d_name, 0) == 0);
        rewinddir(folder);
        if (how)
            break;
    }
    closedir(folder);
    if (!how)
        CHECK(rmdir("logs") == 0);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        churn(100);
        replace(atoi(argv[1]));
        churn(60000);
        exit(5);
    }
    char here[4096];
    struct stat about;
    CHECK(getcwd(here, 4000) && setenv("MEMLOG_DIR", strcat(here, "/logs"), 1) == 0);
    int fd = open("precious", O_CREAT | O_EXCL | O_WRONLY, 0644);
    CHECK(fd >= 0 && write(fd, "precious", 8) == 8 && close(fd) == 0);
    for (int how = 0; how < 4; how++) {
        CHECK(mkdir("logs", 0755) == 0);
        churn(100);
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            char text[2] = {'0' + how, 0};
            execl("/proc/self/exe", "log_taken_away", text, NULL);
            _exit(96);
        }
        CHECK(status_of(child) == 5);
        CHECK(stat("precious", &about) == 0 && about.st_size == 8);
        if (how)
            replace(0);
    }
    say("still precious\n");
    return 0;
}
