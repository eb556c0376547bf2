/* A child is traced: it stops at each fork, exec and end of its own and of its child, and goes on. */
#include "../torture.h"
#include <sys/ptrace.h>

int main(int argc, char **argv)
{
    int status = 0, stops = 0;
    if (argc > 1) {
        churn(50);
        return 5;
    }
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
        churn(20);
        CHECK(raise(SIGSTOP) == 0);
        churn(20);
        pid_t grandchild = fork();
        CHECK(grandchild >= 0);
        churn(20);
        if (!grandchild)
            exit(6);
        CHECK(status_of(grandchild) == 6);
        execl("/proc/self/exe", argv[0], "child", (char *)NULL);
        CHECK(!"exec");
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    const long events = PTRACE_O_TRACEFORK | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL;
    CHECK(ptrace(PTRACE_SETOPTIONS, child, NULL, events) == 0);
    for (pid_t stopped = child; stopped > 0; stopped = waitpid(-1, &status, __WALL)) {
        churn(10);
        if (!WIFSTOPPED(status))
            continue;
        int event = status >> 16, signal = WSTOPSIG(status);
        stops += event != 0;
        CHECK(ptrace(PTRACE_CONT, stopped, NULL, (long)(event || signal == SIGSTOP || signal == SIGTRAP ? 0 : signal)) == 0);
    }
    CHECK(errno == ECHILD && stops >= 4);
    say("traced\n");
    return 0;
}
