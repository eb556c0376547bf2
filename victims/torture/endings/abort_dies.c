/* abort, whose signal a handler takes, allocating, and which ends the process all the same; then once more in main. */
#include "../torture.h"
#include <sys/resource.h>

static void on_abort(int signal)
{
    (void)signal;
    churn(50);
    say("aborted\n");
}

int main(void)
{
    struct rlimit none = {0, 0};
    struct sigaction action = {.sa_handler = on_abort};
    CHECK(setrlimit(RLIMIT_CORE, &none) == 0 && sigaction(SIGABRT, &action, NULL) == 0);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            churn(3000);
            if (i == 1)
                signal(SIGABRT, SIG_IGN);
            abort();
        }
        CHECK(status_of(child) == 1000 + SIGABRT);
    }
    churn(100);
    abort();
}
