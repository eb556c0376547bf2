/* A service whose manager kills it for what a service need not do: the filter was there before it began, and kills for a call
 * on another's memory even where the other is itself.
 */
#include "../torture.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static const int forbidden[] = {
    /* clocks, debuggers, messages between processes */
    SYS_adjtimex, SYS_clock_adjtime, SYS_clock_settime, SYS_settimeofday, SYS_perf_event_open, SYS_ptrace, SYS_kcmp,
    SYS_memfd_create, SYS_mq_open, SYS_msgget, SYS_pipe2, SYS_process_vm_readv, SYS_process_vm_writev, SYS_semget, SYS_shmget,
    /* keys, modules, mounts, rights */
    SYS_add_key, SYS_keyctl, SYS_init_module, SYS_mount, SYS_umount2, SYS_chroot, SYS_fchown, SYS_fchownat, SYS_capset,
    SYS_setuid, SYS_setgid, SYS_setresuid, SYS_setgroups, SYS_acct, SYS_bpf, SYS_quotactl, SYS_open_by_handle_at,
    /* resources, swap, locked memory */
    SYS_ioprio_set, SYS_mbind, SYS_migrate_pages, SYS_move_pages, SYS_sched_setaffinity, SYS_sched_setattr,
    SYS_sched_setparam, SYS_sched_setscheduler, SYS_set_mempolicy, SYS_setpriority, SYS_setrlimit, SYS_swapon,
    SYS_mlock, SYS_mlock2, SYS_mlockall, SYS_userfaultfd, SYS_personality, SYS_unshare, SYS_setns,
};

static void *work(void *nothing)
{
    churn(20000);
    return nothing;
}

static void forbid(void)
{
    enum { COUNT = sizeof forbidden / sizeof *forbidden };
    struct sock_filter code[COUNT + 3] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    for (int i = 0; i < COUNT; i++)
        code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, forbidden[i], COUNT - i, 0);
    code[1 + COUNT] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[2 + COUNT] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    struct sock_fprog program = {COUNT + 3, code};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
        skip("no filters: %s", strerror(errno));
}

int main(int count, char **arguments)
{
    churn(1000);
    if (count == 1) {
        forbid();
        execl("/proc/self/exe", arguments[0], "served", (char *)NULL);
        return 1;
    }
    churn(50000);
    pthread_t id = start_thread(work, NULL);
    churn(20000);
    join_thread(id);
    say("served\n");
    return 0;
}
