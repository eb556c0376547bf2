/* The plainest recorder there can be, for musl: each call that the program makes is told to descriptor 3 as it
 * happens, `M SIZE` or `F`, and what the allocator calls within one is not. In two shapes: behind --wrap of the five
 * names, or with -DSHARED preloaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <unistd.h>

#ifdef SHARED
#define NAME(name) name
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
void *malloc(size_t), *calloc(size_t, size_t), *realloc(void *, size_t), *memalign(size_t, size_t);
void *aligned_alloc(size_t, size_t);
void free(void *);
#else
#define NAME(name) __wrap_##name
#define REAL(name) __real_##name
void *__real_malloc(size_t), *__real_calloc(size_t, size_t), *__real_realloc(void *, size_t);
void *__real_memalign(size_t, size_t);
void __real_free(void *);
#endif

static __thread int inside __attribute__((tls_model("initial-exec")));

static void tell(const char *what, size_t length)
{
    if (write(3, what, length) != (ssize_t)length)
        _exit(5);
}

static void *allocated(void *block, size_t size)
{
    char line[32];
    int at = sizeof line;
    if (!block || inside)
        return block;
    line[--at] = '\n';
    do
        line[--at] = '0' + size % 10;
    while (size /= 10);
    line[--at] = ' ';
    line[--at] = 'M';
    tell(line + at, sizeof line - at);
    return block;
}

static void released(void *block)
{
    if (block && !inside)
        tell("F\n", 2);
}

/* A call of the allocator, whose own calls are its own affair. */
#define WITHIN(call) ({ inside++; __typeof__(call) got = (call); inside--; got; })

void *NAME(malloc)(size_t size) { return allocated(WITHIN(REAL(malloc)(size)), size); }
void *NAME(calloc)(size_t count, size_t size) { return allocated(WITHIN(REAL(calloc)(count, size)), count * size); }
void *NAME(memalign)(size_t to, size_t size) { return allocated(WITHIN(REAL(memalign)(to, size)), size); }

void *NAME(realloc)(void *block, size_t size)
{
    void *moved = WITHIN(REAL(realloc)(block, size));
    if (moved)
        released(block);
    return allocated(moved, size);
}

void NAME(free)(void *block)
{
    released(block);
    inside++;
    REAL(free)(block);
    inside--;
}

#ifdef SHARED
/* Where malloc is replaced and this is not, musl refuses it; posix_memalign and memalign end in it. */
void *aligned_alloc(size_t to, size_t size) { return allocated(WITHIN(REAL(aligned_alloc)(to, size)), size); }
#endif
