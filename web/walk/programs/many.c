/* More nodes than a flame graph shows: each of 60,000 blocks is asked for by another way through sixteen calls.
 * Prints nothing, exits 0.
 */
#include <stdlib.h>

static void walk(unsigned bits, int depth);

#define CALL(name) \
    __attribute__((noinline)) void name(unsigned bits, int depth) \
    { \
        walk(bits >> 1, depth - 1); \
        __asm__ volatile(""); \
    }
CALL(left)
CALL(right)

static __attribute__((noinline)) void walk(unsigned bits, int depth)
{
    if (depth == 0) {
        *(volatile char *)malloc(64) = 1;
        return;
    }
    if (bits & 1)
        left(bits, depth);
    else
        right(bits, depth);
    __asm__ volatile("");
}

int main(void)
{
    for (unsigned i = 0; i < 60000; i++)
        walk(i, 16);
    return 0;
}
