/* A filter of an old container: what is newer than it knows is refused with ENOSYS, and much else with EPERM; it is there before
 * the program starts.
 *
 * @may lose: the log may not be made longer
 * @may lack: children may not make one
 * @uncounted: the second recorder needs some of what is refused
 */
#include "../torture.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define REFUSE(name, error) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error)

static void *work(void *nothing)
{
    churn(3000);
    return nothing;
}

int main(int argc, char **argv)
{
    (void)argv;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        REFUSE(memfd_create, ENOSYS), REFUSE(statx, ENOSYS), REFUSE(clone3, ENOSYS), REFUSE(openat2, ENOSYS),
        REFUSE(close_range, ENOSYS), REFUSE(rseq, ENOSYS), REFUSE(getrandom, ENOSYS), REFUSE(process_vm_readv, EPERM),
        REFUSE(madvise, EPERM), REFUSE(ftruncate, EPERM), REFUSE(msync, EPERM), REFUSE(tgkill, EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (argc == 1) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
            if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
                skip("no filters: %s", strerror(errno));
            execl("/proc/self/exe", "seccomp_refuses", "again", NULL);
            _exit(96);
        }
        churn(1000);
        return status_of(child);
    }
    churn(20000);
    join_thread(start_thread(work, NULL));
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        churn(2000);
        exit(0);
    }
    CHECK(status_of(child) == 0);
    say("refused\n");
    return 0;
}
