/* Stacks of 64 KiB, and of no limit, with which the kernel lays out all mappings from the bottom up. */
#include "../torture.h"
#include <sys/resource.h>

static void *work(void *nothing)
{
    churn(2000);
    return nothing;
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        struct rlimit seen;
        CHECK(getrlimit(RLIMIT_STACK, &seen) == 0);
        churn(20000);
        join_thread(start_thread(work, NULL));
        say("%s\n", seen.rlim_cur == RLIM_INFINITY ? "no limit" : "64 KiB");
        if (atoi(argv[1]) == 1)
            return 0;
        seen.rlim_cur = RLIM_INFINITY;
        if (setrlimit(RLIMIT_STACK, &seen) < 0)
            skip("there is a hard limit of the stack");
        execl("/proc/self/exe", "limit_stack", "1", NULL);
        return 96;
    }
    churn(100);
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_STACK, &limit) == 0);
    limit.rlim_cur = 65536;
    CHECK(setrlimit(RLIMIT_STACK, &limit) == 0);
    execl("/proc/self/exe", "limit_stack", "0", NULL);
    return 96;
}
