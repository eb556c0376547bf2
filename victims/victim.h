/* What the C and C++ victims share.
 *
 * Annotations that tests read, in the victims' sources:
 *   @site FUNCTION peak=BYTES/BLOCKS end=BYTES/BLOCKS   on the very line that calls the allocator: what
 *         this line's blocks hold at the peak (RSS and heap peak are the same moment) and at the end
 *   @total allocations=N releases=N                     of the whole program, where it is exact
 *   @events                                             the program prints that line itself
 */
#ifndef VICTIM_H
#define VICTIM_H

#include <stddef.h>
#include <stdlib.h>

#ifdef __clang__
#define SITE __attribute__((noinline)) /* a frame of its own, under its own name */
#else
#define SITE __attribute__((noipa))
#endif

/* The compiler can neither drop the block nor turn the call that made it into a jump. */
static inline void *keep(void *p)
{
    __asm__ volatile("" : "+r"(p) : : "memory");
    return p;
}

/* Makes every page of a block resident. */
static inline void *touch(void *p, size_t size)
{
    volatile unsigned char *byte = (volatile unsigned char *)p;
    for (size_t i = 0; i < size; i += 4096)
        byte[i] = 1;
    if (size)
        byte[size - 1] = 1;
    return p;
}

/* argv[n] as a number, or a default. */
static inline long number(int argc, char **argv, int n, long otherwise)
{
    return argc > n ? atol(argv[n]) : otherwise;
}

#endif
