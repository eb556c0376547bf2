/* Forked children set the strict filter by a bare seccomp(2), which announces nothing: SECCOMP_SET_MODE_STRICT needs no
 * no-new-privs, and from then on a file that is made is death by SIGKILL.
 *
 * @may lack: no log can be made
 * @uncounted: the second recorder makes its file in the child, and dies of it
 */
#include "../torture.h"
#include <linux/seccomp.h>
#include <malloc.h>
#include <sys/syscall.h>

static void small_churn(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        void *p = keep(malloc(30 + (size_t)i % 500));
        p = keep(realloc(p, 60 + (size_t)i % 900));
        CHECK(p);
        free(p);
    }
}

int main(void)
{
    CHECK(mallopt(M_TRIM_THRESHOLD, 64 << 20) == 1 && mallopt(M_TOP_PAD, 1 << 20) == 1);
    free(keep(malloc(100000)));
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            if (i % 2)
                small_churn(30);
            CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL) == 0);
            small_churn(300);
            syscall(SYS_exit, 40 + i);
        }
        CHECK(status_of(child) == 40 + i);
    }
    say("strict children\n");
    return 0;
}
