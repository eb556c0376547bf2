/* An exec where nobody expects one: in a handler of SIGSEGV on a stack of its own, in a handler of atexit, in a destructor
 * of thread-local data, in a destructor of the program. */
#include "../torture.h"

static const char *self, *next;

static void go_on(void)
{
    churn(40);
    execl("/proc/self/exe", self, next, (char *)NULL);
    CHECK(!"exec");
}

static void on_fault(int signal)
{
    (void)signal;
    go_on();
}

static void on_thread_end(void *value)
{
    free(value);
    go_on();
}

__attribute__((destructor)) static void at_end(void)
{
    if (next)
        go_on();
}

int main(int argc, char **argv)
{
    int step = argc > 1 ? atoi(argv[1]) : 0;
    char number[12];
    pthread_key_t key;
    stack_t stack = {.ss_sp = keep(malloc(64 << 10)), .ss_size = 64 << 10};
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
    snprintf(number, sizeof number, "%d", step + 1);
    self = argv[0];
    next = keep(strdup(number));
    churn(40);
    switch (step) {
    case 0:
        CHECK(sigaltstack(&stack, NULL) == 0 && sigaction(SIGSEGV, &action, NULL) == 0);
        *(volatile int *)keep(NULL) = 1;
        break;
    case 1: CHECK(atexit(go_on) == 0); exit(1);
    case 2:
        CHECK(pthread_key_create(&key, on_thread_end) == 0);
        CHECK(pthread_setspecific(key, keep(malloc(50))) == 0);
        pthread_exit(NULL);
    case 3: return 2;
    }
    next = NULL;
    say("execs came late\n");
    return 0;
}
