/* A filter that kills for opening files, set by instructions of the program's own: no function of a library is called, so
 * nobody is told.
 *
 * @may lose: what does not fit into the log as it was when the filter came
 * @uncounted: so there is nothing to compare, and the second recorder dies of it in the child
 */
#include "../torture.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static long raw(long number, long a, long b, long c)
{
#ifdef __x86_64__
    long result;
    register long fourth __asm__("r10") = 0;
    register long fifth __asm__("r8") = 0;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
        : "rcx", "r11", "memory");
    return result;
#else
    (void)number, (void)a, (void)b, (void)c;
    skip("no instructions for this processor");
#endif
}

int main(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    churn(1000);
    CHECK(raw(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0) == 0);
    if (raw(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&program) < 0)
        skip("no filters");
    churn(200000);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        churn(3000);
        _exit(3);
    }
    CHECK(status_of(child) == 3);
    say("nothing was opened\n");
    return 0;
}
