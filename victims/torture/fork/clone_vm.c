/* Children of clone that share the memory and, having none of their own, the thread-local data of their parent, which waits
 * meanwhile: they allocate on a stack of their own, and release what is their parent's. */
#include "../torture.h"
#include <sched.h>

enum { STACK = 64 << 10 };
static void *given;

static int run(void *number)
{
    churn(40);
    free(given);
    given = keep(malloc(800));
    return (int)(intptr_t)number;
}

int main(void)
{
    const int flags[] = {CLONE_VM, CLONE_VM | CLONE_VFORK, CLONE_VM | CLONE_FILES | CLONE_FS, CLONE_VM | CLONE_VFORK | CLONE_SIGHAND};
    char *stack = keep(malloc(STACK));
    for (int i = 0; i < 20; i++) {
        given = keep(malloc(600));
        pid_t child = clone(run, stack + STACK, flags[i % 4] | SIGCHLD, (void *)(intptr_t)i);
        CHECK(child > 0);
        CHECK(status_of(child) == i);
        free(given);
        churn(20);
    }
    free(stack);
    say("children in the same memory\n");
    return 0;
}
