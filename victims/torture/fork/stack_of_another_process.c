/* A stack lies in memory shared with a child: parent and child run on halves of one mapping of a file that has no name. */
#include "../torture.h"
#include <sys/mman.h>
#include <ucontext.h>

enum { HALF = 64 * 1024 };
static ucontext_t here, there;

static void run(void)
{
    churn(500);
    free(keep(malloc(5000)));
}

static void run_on(char *stack)
{
    for (int i = 0; i < 10; i++) {
        CHECK(getcontext(&there) == 0);
        there.uc_stack.ss_sp = stack;
        there.uc_stack.ss_size = HALF;
        there.uc_link = &here;
        makecontext(&there, run, 0);
        CHECK(swapcontext(&here, &there) == 0);
    }
}

int main(void)
{
    int fd = memfd_create("stacks", 0);
    CHECK(fd >= 0 && ftruncate(fd, 2 * HALF) == 0);
    char *stacks = mmap(NULL, 2 * HALF, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(stacks != MAP_FAILED && close(fd) == 0);
    run_on(stacks);
    pid_t child = fork();
    CHECK(child >= 0);
    run_on(child ? stacks : stacks + HALF);
    if (!child)
        exit(9);
    CHECK(status_of(child) == 9);
    say("two processes, two halves\n");
    return 0;
}
