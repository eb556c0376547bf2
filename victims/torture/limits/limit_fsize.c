/* The limit of a file's length is small: the program's own writes meet it, with their one SIGXFSZ each, and nobody else does.
 *
 * @may lose: the log is under the limit as well
 * @may lack: that of the child would be
 * @uncounted: what is lost is missing
 */
#include "../torture.h"
#include <fcntl.h>
#include <sys/resource.h>

static volatile sig_atomic_t signals;

static void note(int number)
{
    (void)number;
    signals++;
}

int main(void)
{
    char page[6000] = {0};
    CHECK(signal(SIGXFSZ, note) != SIG_ERR);
    churn(100);
    struct rlimit limit = {4096, 4096}, seen;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    churn(60000);
    CHECK(signals == 0);
    int fd = open("limited", O_WRONLY | O_CREAT | O_EXCL, 0644);
    CHECK(fd >= 0 && write(fd, page, sizeof page) == 4096 && signals == 0);
    CHECK(write(fd, page, 1) == -1 && errno == EFBIG && signals == 1);
    churn(60000);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        churn(20000);
        exit(signals == 1 ? 0 : 9);
    }
    CHECK(status_of(child) == 0);
    CHECK(signals == 1 && getrlimit(RLIMIT_FSIZE, &seen) == 0 && seen.rlim_cur == 4096);
    say("one signal\n");
    limit.rlim_cur = 0;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    churn(20000);
    return signals == 1 ? 0 : 9;
}
