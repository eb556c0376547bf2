/* A worker's first call of all comes from a fiber that main has mapped, entered by a bare switch of the stack pointer: no
 * table says where that stack ends.
 */
#include "../torture.h"
#include <sys/mman.h>

#ifdef __x86_64__
enum { PAGE = 4096, SIZE = 64 << 10 };
static char *volatile top;
static volatile int has_begun;

SITE static void work(void)
{
    for (int i = 0; i < 3; i++)
        free(keep(malloc(100 + (size_t)i)));
}

SITE static void on_stack(char *high)
{
    __asm__ volatile("mov %%rsp, %%rbx\n\tmov %0, %%rsp\n\tcall *%1\n\tmov %%rbx, %%rsp"
                     :
                     : "r"(high), "r"(work)
                     : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
}

static void *worker(void *argument)
{
    has_begun = 1;
    while (!top)
        ;
    on_stack(top);
    return argument;
}

int main(void)
{
    pthread_t id = start_thread(worker, NULL);
    while (!has_begun)
        ;
    char *fiber = mmap(NULL, SIZE + 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(fiber != MAP_FAILED && mprotect(fiber, PAGE, PROT_NONE) == 0 && mprotect(fiber + PAGE + SIZE, PAGE, PROT_NONE) == 0);
    top = fiber + PAGE + SIZE;
    join_thread(id);
    say("worked on a fiber\n");
    return 0;
}
#else
int main(void)
{
    skip("no switch of stacks for this machine");
}
#endif
