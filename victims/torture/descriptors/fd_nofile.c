/* No descriptor is to be had any more, by a limit of 3 and then of 0, and the log wants to grow.
 *
 * @may lack: the child can open no log
 * @uncounted: nor can the second recorder
 */
#include "../torture.h"
#include <fcntl.h>
#include <sys/resource.h>

int main(void)
{
    for (rlim_t most = 3; most <= 3; most -= 3) {
        struct rlimit limit = {most, 3}, seen;
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        churn(60000);
        CHECK(open("/dev/null", O_RDONLY) == -1 && errno == EMFILE);
        CHECK(getrlimit(RLIMIT_NOFILE, &seen) == 0 && seen.rlim_cur == most && seen.rlim_max == 3);
    }
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        churn(20000);
        exit(7);
    }
    CHECK(status_of(child) == 7);
    say("without descriptors\n");
    return 0;
}
