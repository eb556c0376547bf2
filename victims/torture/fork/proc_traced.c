/* A child is traced by its parent: it stops for the signals that it sends itself, and for nothing else. */
#include "../torture.h"
#include <sys/ptrace.h>

int main(void)
{
    churn(100);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
            skip("no ptrace: %s", strerror(errno));
        for (int i = 0; i < 3; i++) {
            churn(5000);
            raise(SIGSTOP);
        }
        exit(4);
    }
    int status, stops = 0;
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        CHECK(WSTOPSIG(status) == SIGSTOP);
        stops++;
        churn(100);
        CHECK(ptrace(PTRACE_CONT, child, NULL, NULL) == 0);
    }
    CHECK(WIFEXITED(status));
    say("%d stops, status %d\n", stops, WEXITSTATUS(status));
    return WEXITSTATUS(status) == 77 ? 77 : 0;
}
