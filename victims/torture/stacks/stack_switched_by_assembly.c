/* Assembly switches to other stacks, nested, without a word to the unwinder: a walk that follows them finds a return address
 * on a stack that is not there, or whose top is the end of a mapping. */
#include "../torture.h"
#include <sys/mman.h>

enum { SIZE = 32 * 1024 };
static int depth_reached;

#ifdef __x86_64__
static void on_stack(void *top, void (*function)(long), long argument)
{
    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "movq %0, %%rsp\n\t"
                     "call *%1\n\t"
                     "movq %%rbx, %%rsp"
                     : "+r"(top), "+r"(function), "+D"(argument)
                     :
                     : "rbx", "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
}

static void nested(long depth)
{
    churn(20);
    if (depth > depth_reached)
        depth_reached = (int)depth;
    if (depth == 8)
        return;
    char *stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(stack != MAP_FAILED);
    on_stack(stack + SIZE, nested, depth + 1);
    CHECK(munmap(stack, SIZE) == 0);
    churn(20);
}
#endif

int main(void)
{
#ifdef __x86_64__
    for (int i = 0; i < 20; i++)
        nested(0);
    say("%d stacks deep\n", depth_reached);
    return 0;
#else
    (void)depth_reached;
    skip("the assembly is x86_64's");
#endif
}
