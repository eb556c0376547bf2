/* The stack overflows; the handler of SIGSEGV on the alternate stack allocates and leaves by siglongjmp, three times, in main
 * and in a thread. The stack that it interrupted has not a byte left. */
#include "../torture.h"
#include <setjmp.h>
#include <sys/resource.h>

static __thread sigjmp_buf way_out;
static volatile int never = 1;

static void on_overflow(int number)
{
    (void)number;
    churn(20);
    free(keep(malloc(5000)));
    siglongjmp(way_out, 1);
}

__attribute__((noipa)) static long overflow(volatile char *above)
{
    volatile char here[400];
    here[0] = above[0];
    return never ? overflow(here) + here[0] : 0;
}

static void *run(void *unused)
{
    stack_t stack = {.ss_sp = keep(malloc(65536)), .ss_size = 65536}, none = {.ss_flags = SS_DISABLE};
    (void)unused;
    CHECK(sigaltstack(&stack, NULL) == 0);
    for (volatile int i = 0; i < 3; i++) {
        if (!sigsetjmp(way_out, 1))
            overflow("");
        churn(20);
    }
    CHECK(sigaltstack(&none, NULL) == 0);
    free(stack.ss_sp);
    say("three overflows\n");
    return NULL;
}

int main(void)
{
    struct rlimit limit;
    struct sigaction action = {.sa_handler = on_overflow, .sa_flags = SA_ONSTACK};
    CHECK(getrlimit(RLIMIT_STACK, &limit) == 0);
    if (limit.rlim_cur == RLIM_INFINITY)
        skip("the stack has no end here");
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
    run(NULL);
    join_thread(start_thread(run, NULL));
    return 0;
}
