/* A program that is started with room for a single descriptor besides the usual three, the one that the loader needs. */
#include "../torture.h"
#include <fcntl.h>
#include <sys/resource.h>

int main(int argc, char **argv)
{
    (void)argv;
    if (argc == 1) {
        for (int fd = 3; fd < 1024; fd++)
            close(fd);
        struct rlimit limit = {4, 4};
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        execl("/proc/self/exe", "fd_nofile_start", "again", NULL);
        CHECK(!"exec");
    }
    churn(20000);
    CHECK(open("/dev/null", O_RDONLY) == 3);
    CHECK(open("/dev/null", O_RDONLY) == -1 && errno == EMFILE);
    CHECK(close(3) == 0);
    churn(1000);
    say("one was enough\n");
    return 0;
}
