/* A coroutine's stack is a mapping that grows downwards by itself: its lower end is not where it was when a recorder looked. */
#include "../torture.h"
#include <sys/mman.h>
#include <ucontext.h>

enum { ROOM = 4 << 20, START = 64 * 1024 };
static ucontext_t here, there;

__attribute__((noipa)) static int dive(int depth)
{
    char frame[3000];
    keep(memset(frame, depth, sizeof frame));
    void *p = keep(malloc((size_t)depth + 1));
    int below = depth ? dive(depth - 1) : 0;
    free(p);
    return below + frame[depth] / (depth ? depth : 1);
}

static void run(void)
{
    churn(50);
    for (int depth = 10; depth <= 100; depth += 10)
        CHECK(dive(depth) == depth);
}

int main(void)
{
    char *room = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(room != MAP_FAILED && munmap(room, ROOM) == 0);
    char *stack = mmap(room + ROOM - START, START, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED_NOREPLACE, -1, 0);
    CHECK(stack == room + ROOM - START);
    for (int i = 0; i < 5; i++) {
        CHECK(getcontext(&there) == 0);
        there.uc_stack.ss_sp = stack;
        there.uc_stack.ss_size = START;
        there.uc_link = &here;
        makecontext(&there, run, 0);
        CHECK(swapcontext(&here, &there) == 0);
    }
    say("grown\n");
    return 0;
}
