/* A pool below a small thread stack: a coroutine's smaller stack takes the room of a larger one, the rest of which is
 * unmapped. Whoever takes both for the thread's own stack reads what is gone.
 */
#include "../torture.h"
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

enum { PAGE = 4096, OWN = 32 << 10, LARGE = 64 << 10, FRAME = 1024, PADDING = 24 };
static ucontext_t back, there;
static char *pool, *lowest;
static int frames;

SITE static int down(int n)
{
    volatile char pad[FRAME - PADDING];
    pad[0] = (char)n;
    if (n == 0) {
        lowest = __builtin_frame_address(0);
        free(keep(malloc(100)));
        return 1;
    }
    return down(n - 1) + pad[0];
}

static void entry(void)
{
    down(frames);
}

static void run(char *low, size_t size, int count)
{
    frames = count;
    CHECK(getcontext(&there) == 0);
    there.uc_stack.ss_sp = low;
    there.uc_stack.ss_size = size;
    there.uc_link = &back;
    makecontext(&there, entry, 0);
    CHECK(swapcontext(&back, &there) == 0);
}

static void *thread(void *argument)
{
    free(keep(malloc(10)));
    char *low = pool + PAGE;
    run(low, LARGE, 10);
    char *of_ten = lowest;
    run(low, LARGE, 11);
    size_t frame = (size_t)(of_ten - lowest);
    /* So that a page's worth of frames lies in whole pages, and frames of the two stacks at one place. */
    for (int fewer = 8; fewer < 44; fewer++) {
        if (fewer * frame % PAGE)
            continue;
        run(low, LARGE, 50);
        char *end = low + LARGE - fewer * frame;
        CHECK(syscall(SYS_munmap, end, low + LARGE - end) == 0);
        run(low, (size_t)(end - low), 50 - fewer);
        CHECK(mmap(end, (size_t)(low + LARGE - end), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == end);
    }
    return argument;
}

int main(void)
{
    pool = mmap(NULL, PAGE + LARGE + PAGE + OWN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pool != MAP_FAILED && mprotect(pool, PAGE, PROT_NONE) == 0 && mprotect(pool + PAGE + LARGE, PAGE, PROT_NONE) == 0);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    CHECK(pthread_attr_setstack(&attributes, pool + PAGE + LARGE + PAGE, OWN) == 0);
    pthread_t id;
    CHECK(pthread_create(&id, &attributes, thread, NULL) == 0);
    join_thread(id);
    say("stacks came and went\n");
    return 0;
}
