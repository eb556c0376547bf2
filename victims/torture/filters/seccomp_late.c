/* As servers do it: privileges go at the start, threads work for long, and the filter comes in the end, for all of them at once.
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

enum { THREADS = 4 };
static pthread_barrier_t filtered;

static void *work(void *is_late)
{
    if (!is_late)
        churn(40000);
    pthread_barrier_wait(&filtered);
    pthread_barrier_wait(&filtered);
    churn(5000);
    return NULL;
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
    CHECK(pthread_barrier_init(&filtered, NULL, 2 * THREADS + 1) == 0);
    pthread_t threads[2 * THREADS];
    for (int i = 0; i < 2 * THREADS; i++)
        threads[i] = start_thread(work, i < THREADS ? NULL : &filtered);
    churn(40000);
    pthread_barrier_wait(&filtered);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
        skip("no filters: %s", strerror(errno));
    churn(5000);
    pthread_barrier_wait(&filtered);
    for (int i = 0; i < 2 * THREADS; i++)
        join_thread(threads[i]);
    say("nothing was opened\n");
    return 0;
}
