/* A signal handler forks, and the child leaves the handler and goes on where the parent stood. */
#include "../torture.h"

static volatile pid_t child;

static void on_signal(int signal)
{
    (void)signal;
    void *before = keep(malloc(700));
    child = fork();
    CHECK(child >= 0);
    churn(80);
    free(before);
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (int i = 0; i < 10; i++) {
        void *inherited = keep(malloc(900));
        CHECK(raise(SIGUSR1) == 0);
        free(inherited);
        if (!child) {
            churn(100);
            exit(50 + i);
        }
        CHECK(status_of(child) == 50 + i);
    }
    say("ten children of a handler\n");
    return 0;
}
