/* malloc is called while the frame pointer and the words above the return address are rubbish: unmapped, not canonical, one
 * less than the end of memory, its own address. A recorder that follows them dies. */
#include "../torture.h"

#ifdef __x86_64__
void *with_frame_pointer(unsigned long rubbish, void *(*call)(size_t), size_t size);
__asm__(".text\n"
        ".type with_frame_pointer,@function\n"
        "with_frame_pointer:\n" /* and no unwind information */
        "    pushq %rbp\n"
        "    movq %rdi, %rbp\n"
        "    subq $128, %rsp\n"
        "    movq %rdi, (%rsp)\n"
        "    movq %rdi, 8(%rsp)\n"
        "    movq %rsp, 16(%rsp)\n"
        "    movq %rdx, %rdi\n"
        "    call *%rsi\n"
        "    addq $128, %rsp\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size with_frame_pointer,.-with_frame_pointer\n");
#endif

int main(void)
{
#ifdef __x86_64__
    unsigned long here = (unsigned long)&here & ~15ul;
    const unsigned long rubbish[] = {0, 1, 8, 0x1000, 0xdeadbeef, 0x00007fffffffffff, 0x0000800000000000, ~0ul, ~7ul, ~15ul,
        0x8000000000000000, 0xffffffffff600000, here, here + 1, here - 4096, (unsigned long)main, (unsigned long)malloc};
    for (int round = 0; round < 20; round++)
        for (size_t i = 0; i < sizeof rubbish / sizeof *rubbish; i++) {
            void *p = keep(with_frame_pointer(rubbish[i], malloc, 40 + i));
            CHECK(p);
            free(p);
        }
    say("nobody followed\n");
    return 0;
#else
    skip("the assembly is x86_64's");
#endif
}
