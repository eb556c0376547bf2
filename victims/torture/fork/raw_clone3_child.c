/* Children of clone3, with a descriptor for a number, and one that starts with all signals' handlers taken away.
 *
 * @uncounted: nobody sees that call, so no log says where the child came from
 */
#include "../torture.h"
#include <linux/sched.h>
#include <sys/syscall.h>

static pid_t bare_fork(uint64_t flags, int *fd)
{
    struct clone_args args = {.flags = flags | CLONE_PIDFD, .pidfd = (uintptr_t)fd, .exit_signal = SIGCHLD};
    return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

int main(void)
{
    const uint64_t flags[] = {0, CLONE_CLEAR_SIGHAND, CLONE_PARENT_SETTID, CLONE_FS, CLONE_FILES, CLONE_IO};
    int probe = (int)syscall(SYS_clone3, NULL, 0);
    if (probe < 0 && errno == ENOSYS)
        skip("no clone3");
    for (int i = 0; i < 6; i++) {
        int fd = -1;
        pid_t own;
        void *inherited = keep(malloc(5000));
        struct clone_args args = {.flags = flags[i], .parent_tid = (uintptr_t)&own, .exit_signal = SIGCHLD};
        pid_t child = i % 2 ? bare_fork(flags[i] & ~(uint64_t)CLONE_FILES, &fd) : (pid_t)syscall(SYS_clone3, &args, sizeof args);
        CHECK(child >= 0);
        free(inherited);
        churn(150);
        if (!child)
            exit(20 + i);
        siginfo_t info = {0};
        CHECK(waitid(fd >= 0 ? P_PIDFD : P_PID, (id_t)(fd >= 0 ? fd : child), &info, WEXITED) == 0);
        CHECK(info.si_code == CLD_EXITED && info.si_status == 20 + i);
        if (fd >= 0)
            CHECK(close(fd) == 0);
    }
    say("children of clone3\n");
    return 0;
}
