/* A handler of SIGCHLD reaps children and allocates, while main waits with the signal blocked but in sigsuspend. */
#include "../torture.h"

enum { CHILDREN = 12 };
static volatile sig_atomic_t reaped, codes;

static void on_child(int number)
{
    int status, saved = errno;
    (void)number;
    while (waitpid(-1, &status, WNOHANG) > 0) {
        free(keep(malloc(123)));
        churn(20);
        codes = codes + WEXITSTATUS(status);
        reaped = reaped + 1;
    }
    errno = saved;
}

int main(void)
{
    sigset_t set, old;
    struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP};
    CHECK(sigaction(SIGCHLD, &action, NULL) == 0);
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    CHECK(sigprocmask(SIG_BLOCK, &set, &old) == 0);
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            churn(100);
            _exit(i);
        }
        churn(50);
    }
    while (reaped < CHILDREN)
        sigsuspend(&old);
    say("%d children, codes %d\n", (int)reaped, (int)codes);
    return 0;
}
