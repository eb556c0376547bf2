/* A filter that kills whoever opens a file, maps one, or cuts one: sandboxes install it when all is open that they need.
 *
 * @uncounted: the second recorder opens a file for each thread
 */
#include "../torture.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define KILL(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))

static void *work(void *nothing)
{
    churn(20000);
    return nothing;
}

int main(void)
{
    struct sock_filter code[] = {
        LOAD(nr),
        KILL(openat), KILL(ftruncate), KILL(pwrite64), KILL(unlinkat), KILL(memfd_create), KILL(process_vm_readv), KILL(readlinkat),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
        LOAD(args[3]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    churn(1000);
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
        skip("no filters: %s", strerror(errno));
    churn(50000);
    pthread_t id = start_thread(work, NULL);
    churn(20000);
    join_thread(id);
    say("nothing was opened\n");
    return 0;
}
