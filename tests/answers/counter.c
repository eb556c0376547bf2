/* An allocator that counts: it is glibc's, and writes to the file COUNTED, when the process
 * ends, how often each function was called and with how many bytes in all. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <fcntl.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static atomic_ulong calls[5], bytes[5];

static void count(int what, size_t size)
{
    calls[what]++;
    bytes[what] += size;
}

void *malloc(size_t size)
{
    count(0, size);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    count(1, number * size);
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size)
{
    count(2, size);
    return __libc_realloc(block, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    count(3, size);
    *block = __libc_memalign(alignment, size);
    if ((size_t)*block % alignment)
        abort();
    return *block ? 0 : ENOMEM;
}

void free(void *block)
{
    if (block)
        count(4, 0);
    __libc_free(block);
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("COUNTED");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (file >= 0)
        for (int i = 0; i < 5; i++)
            dprintf(file, "%lu %lu\n", (unsigned long)calls[i], (unsigned long)bytes[i]);
}
