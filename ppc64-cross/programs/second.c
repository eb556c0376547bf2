/* The second recorder: each call of the malloc family, told to descriptor 4 as it happens: `M SIZE ADDRESS`, `F ADDRESS`,
 * and `U ADDRESS` for a release that did not come to pass: a block is told to be gone before another thread can have it.
 *
 * It shares no line with memlog, runs below it in the same process, and is meant to be right by looking at it. Static:
 * a copy of memlog's archive calls second_malloc where it called __real_malloc. Shared (SECOND_SHARED): preloaded after
 * memlog. SECOND_FIVE leaves it at the five names of the line of 2015. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#if !defined(SECOND_SHARED)
#define HOOK(name) second_##name
#define REAL(name) __real_##name
#define WHILE_LOOKING(size) (void)0
#define IS_EARLY(block) 0
void *__real_malloc(size_t), *__real_calloc(size_t, size_t), *__real_realloc(void *, size_t);
void *__real_memalign(size_t, size_t);
void __real_free(void *);
#ifndef SECOND_FIVE
void *__real_reallocarray(void *, size_t, size_t), *__real_aligned_alloc(size_t, size_t);
int __real_posix_memalign(void **, size_t, size_t);
void *__real_valloc(size_t);
#ifdef __GLIBC__
void *__real_pvalloc(size_t);
#endif
#endif
#else
#define HOOK(name) name
#define REAL(name) ((__typeof__(&name))next(#name, &real_##name))
void *malloc(size_t), *calloc(size_t, size_t), *realloc(void *, size_t), *memalign(size_t, size_t);
void *reallocarray(void *, size_t, size_t), *aligned_alloc(size_t, size_t), *valloc(size_t), *pvalloc(size_t);
void free(void *);
int posix_memalign(void **, size_t, size_t);
static void *real_malloc, *real_calloc, *real_realloc, *real_memalign, *real_reallocarray, *real_aligned_alloc, *real_valloc, *real_pvalloc;
static void *real_free, *real_posix_memalign;

/* Before glibc 2.34 dlsym allocates, once for a thread: that comes from here. Volatile: it is declared to call nobody back. */
static __thread volatile int looking __attribute__((tls_model("initial-exec")));
static char early[4096];
static size_t early_used;

static void *next(const char *name, void **kept)
{
    void *found = __atomic_load_n(kept, __ATOMIC_RELAXED);
    if (!found) {
        looking++;
        found = dlsym(RTLD_NEXT, name);
        looking--;
        __atomic_store_n(kept, found, __ATOMIC_RELAXED);
    }
    return found;
}

/* In the first thread, which never ends: another's would be given back. */
__attribute__((constructor)) static void find_all(void)
{
    (void)REAL(malloc), (void)REAL(calloc), (void)REAL(realloc), (void)REAL(memalign), (void)REAL(reallocarray);
    (void)REAL(aligned_alloc), (void)REAL(valloc), (void)REAL(pvalloc), (void)REAL(free), (void)REAL(posix_memalign);
}
#define WHILE_LOOKING(size)                                                                                          \
    if (looking) {                                                                                                   \
        void *block = early + __atomic_fetch_add(&early_used, ((size) + 15) & ~(size_t)15, __ATOMIC_RELAXED);        \
        if (inside == 0)                                                                                             \
            tell('M', block, &(size_t){size});                                                                       \
        return block;                                                                                                \
    }
#define IS_EARLY(block) ((uintptr_t)(block) - (uintptr_t)early < sizeof early)
#endif

/* Within a call: what the allocator asks of itself is its own affair. */
static __thread int inside __attribute__((tls_model("initial-exec")));

static char *number(char *end, uint64_t value, unsigned base)
{
    do
        *--end = "0123456789abcdef"[value % base];
    while (value /= base);
    return end;
}

static void tell(char kind, void *block, const size_t *size)
{
    char text[80], *at = text + sizeof text;
    int before = errno;
    if (!block)
        return;
    *--at = '\n';
    at = number(at, (uintptr_t)block, 16);
    *--at = ' ';
    if (size) {
        at = number(at, *size, 10);
        *--at = ' ';
    }
    *--at = kind;
    if (write(4, at, text + sizeof text - at) < 0 && errno != EBADF)
        _exit(7);
    errno = before;
}

#define ALLOCATES(name, parameters, arguments, size)   \
    void *HOOK(name) parameters                        \
    {                                                  \
        WHILE_LOOKING(size);                           \
        inside++;                                      \
        void *block = REAL(name) arguments;            \
        if (--inside == 0)                             \
            tell('M', block, &(size_t){size});         \
        return block;                                  \
    }
#define RESIZES(name, parameters, arguments, length)   \
    void *HOOK(name) parameters                        \
    {                                                  \
        if (inside == 0)                               \
            tell('F', old, NULL);                      \
        inside++;                                      \
        void *block = REAL(name) arguments;            \
        if (--inside)                                  \
            return block;                              \
        if (block)                                     \
            tell('M', block, &(size_t){length});       \
        else if ((length) != 0)                        \
            tell('U', old, NULL);                      \
        return block;                                  \
    }

ALLOCATES(malloc, (size_t size), (size), size)
ALLOCATES(calloc, (size_t count, size_t size), (count, size), count *size)
ALLOCATES(memalign, (size_t to, size_t size), (to, size), size)
RESIZES(realloc, (void *old, size_t size), (old, size), size)

void HOOK(free)(void *block)
{
    if (inside == 0)
        tell('F', block, NULL);
    if (IS_EARLY(block))
        return;
    /* What looking for it allocates is the caller's: a release is no allocation that it could be part of. */
    __typeof__(&HOOK(free)) real = REAL(free);
    inside++;
    real(block);
    inside--;
}

#ifndef SECOND_FIVE
ALLOCATES(aligned_alloc, (size_t to, size_t size), (to, size), size)
RESIZES(reallocarray, (void *old, size_t count, size_t size), (old, count, size), count *size)
ALLOCATES(valloc, (size_t size), (size), size)
#ifdef __GLIBC__
ALLOCATES(pvalloc, (size_t size), (size), size)
#endif

int HOOK(posix_memalign)(void **to, size_t alignment, size_t size)
{
    inside++;
    int error = REAL(posix_memalign)(to, alignment, size);
    if (--inside == 0 && !error)
        tell('M', *to, &size);
    return error;
}
#endif
