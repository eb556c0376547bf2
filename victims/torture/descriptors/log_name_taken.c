/* The log's name is that of a link to a precious file, a link to nowhere, a file, a pipe: none is followed, cut or waited for.
 *
 * @uncounted: the second image has its log elsewhere
 */
#include "../torture.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
    (void)argv;
    churn(argc > 1 ? 20000 : 100);
    if (argc > 1)
        exit(5);
    char here[4096], name[4200];
    struct stat about;
    CHECK(getcwd(here, 4000));
    int fd = open("precious", O_CREAT | O_EXCL | O_WRONLY, 0644);
    CHECK(fd >= 0 && write(fd, "precious", 8) == 8 && close(fd) == 0);
    CHECK(symlink("precious", "log-link") == 0 && symlink("nowhere", "log-dangling") == 0);
    CHECK(link("precious", "log-file") == 0 && mkfifo("log-pipe", 0644) == 0);
    static const char *names[] = {"log-link", "log-dangling", "log-file", "log-pipe"};
    for (int i = 0; i < 4; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            snprintf(name, sizeof name, "%.4000s/%s", here, names[i]);
            CHECK(setenv("MEMLOG_OUTPUT", name, 1) == 0);
            execl("/proc/self/exe", "log_name_taken", "again", NULL);
            _exit(96);
        }
        CHECK(status_of(child) == 5);
    }
    CHECK(lstat("log-link", &about) == 0 && S_ISLNK(about.st_mode));
    CHECK(lstat("nowhere", &about) == -1 && lstat("log-pipe", &about) == 0 && S_ISFIFO(about.st_mode));
    CHECK(stat("precious", &about) == 0 && about.st_size == 8 && about.st_nlink == 2);
    DIR *folder = opendir(".");
    CHECK(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        if (!strncmp(entry->d_name, "log-", 4))
            CHECK(unlink(entry->d_name) == 0);
    closedir(folder);
    say("still precious\n");
    return 0;
}
