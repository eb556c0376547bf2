/* The whole family: called directly, through a pointer, and across objects. Ends with three blocks live. */
#include "seen.h"
#include <errno.h>
#include <malloc.h>

typedef void *(*allocator)(size_t);
void *across(size_t), *across_grown(void *, size_t), *across_call(allocator, size_t);
void across_free(void *);
allocator across_pointer(void);

static void *(*volatile by_malloc)(size_t) = malloc;
static void *(*volatile by_calloc)(size_t, size_t) = calloc;
static void *(*volatile by_realloc)(void *, size_t) = realloc;
static int (*volatile by_aligned)(void **, size_t, size_t) = posix_memalign;
static void (*volatile by_free)(void *) = free;
static long misaligned;

static void *aligned(void *block, size_t to)
{
    misaligned += (uintptr_t)block % to != 0;
    return block;
}

SITE static void directly(void)
{
    void *block;
    for (size_t size = 0; size < 200; size += 7)
        free(malloc(size));
    free(memset(calloc(3, 1111), 0, 3333));
    block = malloc(10);
    for (size_t size = 20; size < 300000; size *= 3)
        block = realloc(block, size);
    free(block);
    free(realloc(NULL, 555));
    free(reallocarray(NULL, 7, 111));
    for (size_t to = 16; to <= 65536; to *= 4) {
        if (posix_memalign(&block, to, to + 1) == 0)
            free(aligned(block, to));
        free(aligned(aligned_alloc(to, 2 * to), to));
        free(aligned(memalign(to, 77), to));
    }
#if defined(__GLIBC__)
    free(aligned(valloc(100), 4096));
    free(aligned(pvalloc(100), 4096));
#endif
}

SITE static void by_pointer(void)
{
    void *block;
    by_free(by_malloc(1001));
    by_free(by_realloc(by_calloc(9, 101), 2002));
    if (by_aligned(&block, 256, 3003) == 0)
        by_free(aligned(block, 256));
}

SITE static void from_elsewhere(void)
{
    across_free(across_grown(across(4004), 5005));
    free(across(6006));
    across_free(malloc(7007));
    across_free(across_pointer()(8008));
    across_free(across_call(malloc, 9009));
    say("one malloc for all:", across_pointer() == by_malloc);
}

/* What fails must leave things as they were, errno included. */
SITE static void refused(void)
{
    volatile size_t much = SIZE_MAX / 2 + 5;
    void *block = malloc(50), *kept = block;
    errno = 0;
    void *none = malloc(much);
    say("malloc of too much:", none == NULL && errno == ENOMEM);
    none = realloc(block, much);
    say("realloc to too much:", none == NULL);
    none = calloc(much, 16);
    say("calloc of too much:", none == NULL);
    errno = 77;
    free(kept);
    say("errno after free:", errno);
    void *untouched = &misaligned;
    say("a wrong alignment:", posix_memalign(&untouched, 3, 10) == EINVAL && untouched == &misaligned);
}

int main(void)
{
    static void *kept[3];
    seen_begin();
    directly();
    by_pointer();
    from_elsewhere();
    refused();
    for (int i = 0; i < 3; i++)
        kept[i] = seen();
    say("misaligned:", misaligned);
    say("usable:", malloc_usable_size(kept[0]) >= FIRST_SIZE + SIZE_STEP);
    return kept[2] ? 5 : 6; /* a status of its own */
}
