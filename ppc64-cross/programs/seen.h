/* What the programs share: an allocation whose stack the C library tells as well.
 *
 * seen() allocates a size that nobody else asks for and tells descriptor 3, if it is open, the addresses of its callers
 * as backtrace() finds them: `SIZE ADDRESS...`, innermost first. Words go out by write(2): printf would allocate. */
#ifndef SEEN_H
#define SEEN_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SITE __attribute__((noinline))
#define MAYBE __attribute__((unused))
enum { FRAMES = 200, FIRST_SIZE = 1000003, SIZE_STEP = 16 };

#if defined(__GLIBC__)
#include <execinfo.h>
#elif defined(SEEN_UNWIND)
#include "seen_unwind.h"
#else
static int backtrace(void **at, int room) { (void)at, (void)room; return 0; }
#endif

static int seen_count;

static char *seen_number(char *end, uint64_t value, unsigned base)
{
    do
        *--end = "0123456789abcdef"[value % base];
    while (value /= base);
    return end;
}

SITE static void *seen_with(int told)
{
    size_t size = FIRST_SIZE + SIZE_STEP * (size_t)__atomic_fetch_add(&seen_count, 1, __ATOMIC_RELAXED);
    void *frames[FRAMES], *block;
    char text[FRAMES * 18 + 32], *at = text + sizeof text;
    int count = told ? backtrace(frames, FRAMES) : 0;
    *--at = '\n';
    while (count > 1) { /* the innermost is this function, at another of its calls */
        at = seen_number(at, (uintptr_t)frames[--count], 16);
        *--at = ' ';
    }
    at = seen_number(at, size, 10);
    block = malloc(size);
    if (fcntl(3, F_GETFD) >= 0 && write(3, at, text + sizeof text - at) < 0)
        _exit(9);
    memset(block, 1, 64);
    return block;
}

MAYBE SITE static void *seen(void)
{
    void *block = seen_with(1);
    __asm__ volatile("" ::: "memory");
    return block;
}

/* In a handler. PowerPC's backtrace() knows a signal's frame by the kernel's vDSO only, and under qemu, which has none, it
 * may even end the program: there the names of the functions are looked at instead. */
MAYBE SITE static void *seen_in_handler(void)
{
#if defined(__powerpc64__)
    void *block = seen_with(0);
#else
    void *block = seen_with(1);
#endif
    __asm__ volatile("" ::: "memory");
    return block;
}

/* The first backtrace() loads a library, which allocates. */
MAYBE static void seen_begin(void)
{
    free(seen());
}

MAYBE static void say(const char *what, long value)
{
    char text[200], number[24], *end = number + sizeof number;
    *--end = '\0';
    int length = snprintf(text, sizeof text, "%s %s%s\n", what, value < 0 ? "-" : "",
                          seen_number(end, value < 0 ? -(uint64_t)value : (uint64_t)value, 10));
    if (write(1, text, length) != length)
        _exit(8);
}

#endif
