/* A filter that kills for all that threads need not do to come and go and allocate, and then many of them, some at a time, and
 * some after each other.
 *
 * @uncounted: the second recorder opens a file for each thread
 */
#include "../torture.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define KILL(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

enum { TOGETHER = 40, ROUNDS = 5 };

static void *work(void *nothing)
{
    churn(500);
    return nothing;
}

int main(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        KILL(openat), KILL(ftruncate), KILL(pwrite64), KILL(prctl), KILL(process_vm_readv), KILL(readlinkat), KILL(getrusage),
        KILL(gettid), KILL(getpid), KILL(sched_yield), KILL(tgkill),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
#ifdef M_ARENA_MAX
    /* For more than one glibc opens files now and then. */
    CHECK(mallopt(M_ARENA_MAX, 1) == 1);
#endif
    churn(1000);
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
        skip("no filters: %s", strerror(errno));
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[TOGETHER];
        for (int i = 0; i < TOGETHER; i++)
            threads[i] = start_thread(work, NULL);
        churn(500);
        for (int i = 0; i < TOGETHER; i++)
            join_thread(threads[i]);
    }
    say("nothing was opened\n");
    return 0;
}
