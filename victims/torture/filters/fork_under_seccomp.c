/* Children that from some moment on may make no system call but read, write and exit, and allocate then: one that had
 * allocated nothing before, and one that had.
 *
 * @may lack: no log can be made
 * @uncounted: the second recorder makes its file in the child, and dies of it
 */
#include "../torture.h"
#include <linux/seccomp.h>
#include <malloc.h>
#include <sys/prctl.h>
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
            CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
            small_churn(300);
            syscall(SYS_exit, 40 + i);
        }
        CHECK(status_of(child) == 40 + i);
    }
    say("strict children\n");
    return 0;
}
