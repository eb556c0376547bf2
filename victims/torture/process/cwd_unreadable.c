/* chdir, fchdir and a folder that may not be searched: the log has its own name, and relative ones are the program's. */
#include "../torture.h"
#include <fcntl.h>
#include <sys/stat.h>

int main(void)
{
    CHECK(mkdir("a", 0755) == 0 && mkdir("a/b", 0755) == 0);
    int here = open(".", O_RDONLY | O_DIRECTORY);
    CHECK(here >= 0);
    for (int i = 0; i < 20; i++) {
        CHECK(chdir(i % 2 ? "a" : "a/b") == 0);
        churn(1000);
        char path[4096];
        CHECK(getcwd(path, sizeof path));
        CHECK(strcmp(strrchr(path, '/'), i % 2 ? "/a" : "/b") == 0);
        CHECK(fchdir(here) == 0);
    }
    CHECK(chdir("a") == 0 && chmod("../a", 0) == 0);
    churn(10000);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        churn(3000);
        exit(0);
    }
    CHECK(status_of(child) == 0);
    CHECK(fchdir(here) == 0 && chmod("a", 0755) == 0);
    CHECK(rmdir("a/b") == 0 && rmdir("a") == 0);
    say("back\n");
    return 0;
}
