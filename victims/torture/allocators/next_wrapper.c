/* The program wraps the allocator itself: its malloc is dlsym(RTLD_NEXT)'s, found at the first call, for which dlsym may
 * allocate. It counts, and takes backtraces while it does so; backtrace loads libgcc_s at its first use.
 *
 * @flags -ldl
 */
#include "../torture.h"
#include <dlfcn.h>
#include <execinfo.h>

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);
static char early[8192] __attribute__((aligned(16)));
static size_t early_used;
static int is_finding;
static __thread int inside __attribute__((tls_model("initial-exec")));
static long calls, frames;

static int is_early(void *p)
{
    return (char *)p >= early && (char *)p < early + sizeof early;
}

static void *early_block(size_t size)
{
    size_t at = early_used;
    early_used += (size + 15) & ~(size_t)15;
    return early_used <= sizeof early ? early + at : NULL;
}

static void find_next(void)
{
    is_finding = 1;
    next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    next_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
    next_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    next_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    is_finding = 0;
}

static void note(void)
{
    __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    if (inside++ == 0) {
        void *at[16];
        __atomic_add_fetch(&frames, backtrace(at, 16), __ATOMIC_RELAXED);
    }
    inside--;
}

void *malloc(size_t size)
{
    if (is_finding)
        return early_block(size);
    if (!next_free)
        find_next();
    note();
    return next_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    if (is_finding)
        return early_block(count * size);
    if (!next_free)
        find_next();
    note();
    return next_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
    if (!next_free)
        find_next();
    note();
    if (!is_early(p))
        return next_realloc(p, size);
    void *more = next_malloc(size);
    return more ? memcpy(more, p, size < 256 ? size : 256) : NULL;
}

void free(void *p)
{
    if (p && !is_early(p))
        next_free(p);
}

static void *work(void *argument)
{
    churn(1000);
    return argument;
}

int main(void)
{
    pthread_t id = start_thread(work, NULL);
    work(NULL);
    join_thread(id);
    CHECK(calls >= 2000 && frames > calls);
    say("wrapped\n");
    return 0;
}
