/* Masks, dispositions and alternate stacks are what the kernel gives a fresh program, in main, in threads and in a child, after
 * much was allocated, and what the program itself set stays. */
#include "../torture.h"

static void check_mask(int expected)
{
    sigset_t mask;
    CHECK(pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0);
    for (int i = 1; i < NSIG; i++)
        if (i != 32 && i != 33)
            CHECK(sigismember(&mask, i) == (i == expected));
}

static void check(void)
{
    stack_t stack;
    for (int i = 1; i < NSIG; i++) {
        struct sigaction action;
        if (i == 32 || i == 33)
            continue;
        CHECK(sigaction(i, NULL, &action) == 0);
        CHECK(action.sa_handler == (i == SIGPIPE ? SIG_IGN : SIG_DFL));
    }
    CHECK(sigaltstack(NULL, &stack) == 0);
    CHECK(stack.ss_flags == SS_DISABLE);
}

static void *thread(void *unused)
{
    (void)unused;
    check_mask(SIGUSR2);
    churn(20000);
    check();
    check_mask(SIGUSR2);
    return NULL;
}

int main(void)
{
    sigset_t set;
    sigemptyset(&set);
    check_mask(0);
    CHECK(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
    churn(20000);
    check();
    check_mask(0);
    sigaddset(&set, SIGUSR2);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    join_thread(start_thread(thread, NULL));
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        thread(NULL);
        exit(3);
    }
    CHECK(status_of(child) == 3);
    check_mask(SIGUSR2);
    say("untouched\n");
    return 0;
}
