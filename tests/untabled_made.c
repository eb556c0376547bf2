/* Code made at run time whose frame pointer is a register like any: null, or the address of what looks like a frame. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *volatile keep;
static volatile long zero;
__attribute__((noipa, noinline)) static void never(void) { keep = 0; }
__attribute__((noipa, noinline)) static void elsewhere(void) { keep = 0; never(); zero = 0; }

/* push %rbp; mov %rdi,%rbp; mov %rsi,%rdi; call *%rdx; pop %rbp; ret */
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xfd, 0x48, 0x89, 0xf7, 0xff, 0xd2, 0x5d, 0xc3 };

int main(void)
{
    void *made = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *(*volatile call)(void *, long, void *) = memcpy(made, code, sizeof code);
    const unsigned char *at = (const unsigned char *)elsewhere;
    int distance = 0;
    while (memcpy(&distance, at + 1, sizeof distance), at[0] != 0xe8 || at + 5 + distance != (const unsigned char *)never)
        at++;
    volatile struct { void *next; const void *back; } frame = { (void *)&frame, at + 5 };
    keep = call(0, 100000, malloc);
    keep = call((void *)&frame, 100001, malloc);
    elsewhere();
    return zero;
}
