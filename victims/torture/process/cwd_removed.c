/* The working folder is removed under the program, which forks and execs from there. */
#include "../torture.h"
#include <sys/stat.h>

int main(int argc, char **argv)
{
    (void)argv;
    char path[4096];
    if (argc == 1) {
        CHECK(mkdir("gone", 0755) == 0 && chdir("gone") == 0);
        churn(100);
        CHECK(rmdir("../gone") == 0);
        churn(20000);
    }
    CHECK(!getcwd(path, sizeof path) && errno == ENOENT);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        churn(5000);
        if (argc == 1) {
            execl("/proc/self/exe", "cwd_removed", "again", NULL);
            _exit(96);
        }
        exit(0);
    }
    CHECK(status_of(child) == 0);
    say("%s image\n", argc == 1 ? "first" : "second");
    return 0;
}
