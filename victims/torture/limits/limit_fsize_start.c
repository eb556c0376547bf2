/* Files may have no bytes, or few, when the program starts: it gets no log then, and no SIGXFSZ, which would kill it.
 *
 * @may lose: where there is a log it soon ends
 * @may lack: the limit is too low for a log
 * @uncounted: for the second recorder's too
 */
#include "../torture.h"
#include <fcntl.h>
#include <sys/resource.h>

int main(int argc, char **argv)
{
    char page[6000] = {0};
    churn(100);
    static const rlim_t limits[] = {0, 4096, 100000, 200000, 1000000};
    if (argc > 1) {
        rlim_t most = (rlim_t)atol(argv[1]);
        struct rlimit seen;
        CHECK(getrlimit(RLIMIT_FSIZE, &seen) == 0 && seen.rlim_cur == most);
        churn(20000);
        int fd = open(argv[2], O_WRONLY | O_CREAT | O_EXCL, 0644);
        CHECK(fd >= 0 && signal(SIGXFSZ, SIG_IGN) == SIG_DFL);
        CHECK(write(fd, page, sizeof page) == (most ? most < sizeof page ? (ssize_t)most : (ssize_t)sizeof page : -1));
        exit(0);
    }
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            struct rlimit limit = {limits[i], limits[i]};
            CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
            char text[32], name[32];
            snprintf(text, sizeof text, "%ld", (long)limits[i]);
            snprintf(name, sizeof name, "file.%zu", i);
            execl("/proc/self/exe", "limit_fsize_start", text, name, NULL);
            _exit(96);
        }
        CHECK(status_of(child) == 0);
    }
    return 0;
}
