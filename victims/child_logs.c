/* A child that gets a log of its own, and what may be in the way of that:
 * `limit`: it lowers the limit on files; `filter`: a seccomp filter that allows
 * all was there before it; `old`: madvise knows nothing of MADV_POPULATE_WRITE,
 * as before Linux 5.14. Exits as the child does: 7. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile last;

static void allocate(int count) {
    while (count--) last = malloc(100);
}

static int child(int lowers) {
    allocate(100);
    /* A fork makes the log a file. */
    pid_t inner = fork();
    if (inner == 0) _exit(0);
    waitpid(inner, 0, 0);
    struct rlimit small = {4096, 4096};
    if (lowers && setrlimit(RLIMIT_FSIZE, &small)) return 1;
    allocate(20000);
    return 7;
}

static int filter(struct sock_filter *code, unsigned short length) {
    struct sock_fprog program = {length, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return 1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int count, char **words) {
    const char *way = count > 1 ? words[1] : "";
    allocate(1);
    struct sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_filter old[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 23, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    if (strcmp(way, "filter") == 0 && filter(allow, 1)) return 2;
    if (strcmp(way, "old") == 0) {
        if (filter(old, 6)) return 2;
        execl("/proc/self/exe", words[0], "fork", (char *)0);
        return 3;
    }
    pid_t pid = fork();
    if (pid == 0) _exit(child(strcmp(way, "limit") == 0));
    int status;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
