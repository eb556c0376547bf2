/* Programs ask whether there are filters by setting none: libseccomp tries each flag so before it sets anything. The call fails,
 * and all goes on as before, in threads that come later and in children as well.
 */
#include "../torture.h"
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { THREADS = 4 };

static void *work(void *nothing)
{
    churn(20000);
    return nothing;
}

static void probe(void)
{
    errno = 0;
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) == -1 && (errno == EFAULT || errno == EACCES));
    errno = 0;
    CHECK(prctl(PR_SET_SECCOMP, 77, NULL, 0, 0) == -1 && errno == EINVAL);
    for (unsigned long flags = 0; flags < 64; flags = flags ? flags * 2 : 1) {
        errno = 0;
        CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, NULL) == -1);
        CHECK(errno == EFAULT || errno == EACCES || errno == EINVAL);
    }
    errno = 0;
    CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL) == -1 && errno == EINVAL);
    errno = 0;
    CHECK(syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) == -1);
    CHECK(errno == EFAULT || errno == EACCES);
}

int main(void)
{
    churn(100);
    probe();
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    probe();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = start_thread(work, NULL);
    churn(20000);
    for (int i = 0; i < THREADS; i++)
        join_thread(threads[i]);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        probe();
        churn(5000);
        exit(0);
    }
    CHECK(status_of(child) == 0);
    say("no filter\n");
    return 0;
}
