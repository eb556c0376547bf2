/* Forks on the smallest stacks: of a thread, and of a signal's handler. The recorder sets up all of a child's there. */
#include "../torture.h"
#include <limits.h>

static void one(int code)
{
    pid_t child = fork();
    CHECK(child >= 0);
    churn(60);
    if (!child)
        _exit(code);
    CHECK(status_of(child) == code);
}

static void on_signal(int number)
{
    (void)number;
    one(5);
}

static void *on_thread(void *nothing)
{
    one(6);
    return nothing;
}

int main(void)
{
    size_t size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 8192;
    stack_t stack = {.ss_sp = keep(malloc(size)), .ss_size = size};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    CHECK(sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    pthread_attr_t small;
    CHECK(pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, (size_t)sysconf(_SC_THREAD_STACK_MIN)) == 0);
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        CHECK(raise(SIGUSR1) == 0);
        CHECK(pthread_create(&thread, &small, on_thread, NULL) == 0);
        join_thread(thread);
    }
    CHECK(pthread_attr_destroy(&small) == 0);
    say("small stacks\n");
    return 0;
}
