/* Strict seccomp: only read, write and the bare exit are left, and a child that allocates from what it has must not die of a
 * call of the recorder's.
 * @uncounted: the second recorder opens a file for each child
 */
#include "../torture.h"
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

int main(void)
{
    for (int early = 0; early < 2; early++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            free(keep(malloc(100000)));
            if (early)
                churn(500);
            CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) == 0);
            int bad = 0;
            for (int i = 0; i < 20000; i++) {
                char *p = keep(malloc(40 + i % 400));
                bad |= !p;
                p = keep(realloc(p, 500));
                bad |= !p;
                free(p);
            }
            bad |= write(1, "strict\n", 7) != 7;
            syscall(SYS_exit, bad);
        }
        CHECK(status_of(child) == 0);
    }
    return 0;
}
