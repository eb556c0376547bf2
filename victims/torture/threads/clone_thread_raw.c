/* Threads of a bare clone, unknown to libc, with the thread-local data of the one that made them and waits.
 *
 * @uncounted: memlog knows threads by that data, the second recorder by their numbers
 */
#include "../torture.h"
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>

enum { STACK = 64 << 10 };
static int alive;

static int run(void *nothing)
{
    (void)nothing;
    churn(60);
    return 0;
}

static void one(char *stack)
{
    const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;
    alive = 1;
    CHECK(clone(run, stack + STACK, flags, NULL, NULL, NULL, &alive) > 0);
    while (__atomic_load_n(&alive, __ATOMIC_ACQUIRE))
        syscall(SYS_futex, &alive, FUTEX_WAIT, 1, NULL, NULL, 0);
    churn(30);
}

static void *from_thread(void *stack)
{
    for (int i = 0; i < 5; i++)
        one(stack);
    return stack;
}

int main(void)
{
    char *stack = keep(malloc(STACK));
    from_thread(stack);
    join_thread(start_thread(from_thread, stack));
    free(stack);
    say("bare threads\n");
    return 0;
}
