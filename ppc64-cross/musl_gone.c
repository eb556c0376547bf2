/* Two stacks side by side in one mapping, as coroutines have them: the upper one is unmapped between two allocations on
 * the lower one. Whoever looks for callers above what is there must not touch it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { STACK = 128 * 1024, ABOVE = 256 };
void on_stack(void *top, void (*function)(void));
__asm__(".text\n"
        ".globl on_stack\n"
        "on_stack:\n"
        "    push %rbp\n"
        "    mov %rsp, %rbp\n"
        "    mov %rdi, %rsp\n"
        "    call *%rsi\n"
        "    mov %rbp, %rsp\n"
        "    pop %rbp\n"
        "    ret\n");

static void *volatile block;
static void by_malloc(void) { block = malloc(10); free(block); }
static void by_strdup(void) { block = strdup("on a stack of its own"); free(block); }

int main(void)
{
    char *both = mmap(0, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (both == MAP_FAILED)
        return 1;
    on_stack(both + STACK - ABOVE, by_malloc);
    munmap(both + STACK, STACK);
    on_stack(both + STACK - ABOVE, by_strdup);
    puts("alive");
    return 0;
}
