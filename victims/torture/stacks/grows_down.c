/* A program stack of its own that the kernel grows downwards under it, while it allocates at every depth of it. */
#include "../torture.h"
#include <sys/mman.h>
#include <ucontext.h>

static ucontext_t back, there;
static int deepest;

SITE static int down(int depth)
{
    volatile char room[2000];
    room[0] = room[1999] = (char)depth;
    void *p = keep(malloc(100 + (size_t)depth));
    CHECK(p);
    int below = depth ? down(depth - 1) : 0;
    CHECK(room[0] == (char)depth);
    free(p);
    return below + 1;
}

static void run(void)
{
    deepest = down(200);
}

int main(void)
{
    enum { SIZE = 64 << 10, ROOM = 2 << 20 };
    char *room = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(room != MAP_FAILED && munmap(room, ROOM) == 0);
    char *stack = mmap(room + ROOM - SIZE, SIZE, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_STACK | MAP_FIXED_NOREPLACE, -1, 0);
    if (stack != room + ROOM - SIZE)
        skip("no room for a stack that grows down");
    CHECK(getcontext(&there) == 0);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = SIZE;
    there.uc_link = &back;
    makecontext(&there, run, 0);
    CHECK(swapcontext(&back, &there) == 0 && deepest == 201);
    say("%d frames on it\n", deepest);
    return 0;
}
