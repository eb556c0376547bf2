/* stackfuzz: frames of every shape that a compiler makes. */
#include "stackfuzz.h"
#include <alloca.h>

SITE static void with_alloca(struct fuzz *f, int depth)
{
    char *p = alloca(1 + below(f, 1500));
    go(f, depth);
    used(p);
}

SITE static void with_vla(struct fuzz *f, int depth)
{
    char first[1 + below(f, 500)];
    for (unsigned i = below(f, 3); i < 3; i++) {
        char each[1 + below(f, 300)];
        go(f, depth - 2);
        used(each);
    }
    used(first);
}

/* Realigned, of variable size and with arguments on the stack: gcc finds these by a register of its own. Not to be stepped
 * through: gcc 12's tables still find the saved registers by rbp where that has been restored.
 */
SITE static int realigned(struct fuzz *f, int depth, long a, long b, long c, long d, long on_stack, ...)
{
    char block[64] __attribute__((aligned(64)));
    char *p = alloca(1 + below(f, 400));
    go(f, depth);
    used(block);
    used(p);
    return (int)(a + b + c + d + on_stack);
}

SITE static void with_realigned(struct fuzz *f, int depth)
{
    volatile int sum = realigned(f, depth, 1, 2, 3, 4, 5, 6, 7);
    (void)sum;
}

SITE static void only_aligned(struct fuzz *f, int depth)
{
    char block[128] __attribute__((aligned(128)));
    go(f, depth);
    used(block);
}

SITE __attribute__((optimize("no-omit-frame-pointer"))) static void with_frame_pointer(struct fuzz *f, int depth)
{
    char block[100];
    go(f, depth);
    go(f, 0);
    used(block);
}

/* Values that live across calls in every register that is kept, the frame pointer's too. */
SITE static void with_registers(struct fuzz *f, int depth)
{
    long a = below(f, 100), b = (long)f, c = (long)&a, d = below(f, 100), e = a * d, g = b ^ c;
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(g));
    go(f, depth);
    __asm__ volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(g));
}

SITE static void tail(struct fuzz *f, int depth)
{
    go(f, depth);
}

SITE static void longer_tail(struct fuzz *f, int depth)
{
    char block[300];
    go(f, 0);
    used(block);
    tail(f, depth);
}

/* Nine arguments, four of them pushed: the frame changes within the function. */
SITE static long many(struct fuzz *f, int depth, long c, long d, long e, long g, long h, long i, long j)
{
    go(f, depth);
    return c + d + e + g + h + i + j;
}

SITE static void pushing(struct fuzz *f, int depth)
{
    long a = many(f, depth / 2, 1, 2, 3, 4, 5, 6, 7);
    go(f, 0);
    a += many(f, depth, a, a, a, a, a, a, a);
    __asm__ volatile("" : : "r"(a));
}

/* One frame, two places: all below is equal but for one word. */
SITE static void twice(struct fuzz *f, int depth)
{
    uint64_t random = f->random;
    go(f, depth < 3 ? depth : 3);
    f->random = random;
    go(f, depth < 3 ? depth : 3);
    __asm__ volatile("");
}

__attribute__((cold, noinline, noreturn)) static void never_back(struct fuzz *f)
{
    turn(f);
    jump(f);
    abort();
}

SITE static void with_cold_part(struct fuzz *f, int depth)
{
    char block[200];
    go(f, depth);
    if (__builtin_expect(!f->is_stepped && f->now.points && below(f, 8) == 0, 0)) {
        turn(f);
        never_back(f);
    }
    used(block);
}

const struct choice frame_entries[] = {
    {"alloca", with_alloca, 40, PURE},
    {"vla", with_vla, 20, PURE},
    {"realigned", with_realigned, 20, 0},
    {"aligned", only_aligned, 20, PURE},
    {"framepointer", with_frame_pointer, 40, PURE},
    {"registers", with_registers, 40, PURE},
    {"tail", longer_tail, 40, PURE},
    {"pushing", pushing, 30, PURE},
    {"twice", twice, 30, PURE},
    {"cold", with_cold_part, 30, PURE},
    {NULL, NULL, 0, 0},
};
