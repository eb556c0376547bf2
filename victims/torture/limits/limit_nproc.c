/* No process more may be started: fork, vfork's kin and threads fail with EAGAIN, and the program goes on.
 *
 * @uncounted: the second recorder does not go on as nobody
 */
#include "../torture.h"
#include <sys/resource.h>

static void *work(void *nothing)
{
    return nothing;
}

int main(void)
{
    churn(200);
    struct rlimit limit = {0, 0};
    CHECK(setrlimit(RLIMIT_NPROC, &limit) == 0);
    if (getuid() == 0)
        CHECK(setgid(65534) == 0 && setuid(65534) == 0);
    for (int i = 0; i < 50; i++) {
        errno = 0;
        CHECK(fork() == -1 && errno == EAGAIN);
        pthread_t id;
        CHECK(pthread_create(&id, NULL, work, NULL) == EAGAIN);
        churn(200);
    }
    say("alone\n");
    return 0;
}
