/* Every entry point once, with sensible and absurd arguments: `api [rounds=1]`.
 *
 * Prints one line, counted from the results it got, without allocating for it:
 *   allocations=N releases=N mappings=N unmappings=N undone=N end_live_bytes=N    (@events)
 * which is exact: a successful realloc is one of each, NULL and failed calls are no events, size 0 is a block.
 * `undone` counts realloc calls that failed on a live block. Exits 1 if an entry point does what it must not.
 */
#define _GNU_SOURCE
#include "victim.h"
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wpragmas"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#endif
#pragma GCC diagnostic ignored "-Walloc-size-larger-than="
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wuse-after-free"
#pragma GCC diagnostic ignored "-Wnonnull"

/* C23's; absent before glibc 2.43 unless a recorder above offers them. */
__attribute__((weak)) void free_sized(void *, size_t);
__attribute__((weak)) void free_aligned_sized(void *, size_t, size_t);
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(STATIC)
__attribute__((weak)) void old_cfree(void *); /* old binaries still reach it */
__asm__(".symver old_cfree, cfree@GLIBC_2.2.5");
#define HAVE_CFREE 1
#endif

static const volatile size_t HUGE = PTRDIFF_MAX, HUGER = SIZE_MAX, ODD_ALIGN = 48, NO_ALIGN = 0;
static long allocations, releases, mappings, unmappings, undone, live_bytes, faults;

static void expect(int holds)
{
    faults += !holds;
}

/* A result of any allocating call; *size* as requested. */
static void *got(void *p, size_t size)
{
    if (keep(p)) {
        allocations++;
        live_bytes += size;
        touch(p, size);
    }
    return p;
}

static void gone(void *p, size_t size)
{
    if (p) {
        releases++;
        live_bytes -= size;
    }
}

static void drop(void *p, size_t size)
{
    gone(p, size);
    free(p);
}

static void refused(void *p)
{
    expect(keep(p) == NULL && errno == ENOMEM);
    errno = 0;
}

static void *mapped(void *p)
{
    mappings += keep(p) != MAP_FAILED;
    return p;
}

SITE void plain(void)
{
    free(NULL);
    drop(got(malloc(0), 0), 0);
    drop(got(malloc(1), 1), 1);
    drop(got(malloc(1 << 20), 1 << 20), 1 << 20);
    refused(malloc(HUGE));
    refused(malloc(HUGER));
    drop(got(calloc(0, 0), 0), 0);
    drop(got(calloc(0, HUGER), 0), 0);
    drop(got(calloc(7, 100), 700), 700);
    refused(calloc(HUGE, 4));
    refused(calloc(HUGER, HUGER));
    errno = 77;
    void *p = got(malloc(10), 10);
    drop(p, 10);
    expect(errno == 77);
}

/* Resizes a block; only a failure leaves the old one. */
static void *again(void *p, size_t old, size_t size, void *q)
{
    if (!keep(q) && p && size) {
        undone++;
        return p;
    }
    gone(p, old);
    return got(q, size);
}

SITE void resizing(void)
{
    void *p = again(NULL, 0, 100, realloc(NULL, 100));
    p = again(p, 100, 50, realloc(p, 50));
    p = again(p, 50, 5000, realloc(p, 5000));
    p = again(p, 5000, 4 << 20, realloc(p, 4 << 20));
    p = again(p, 4 << 20, 8 << 20, realloc(p, 8 << 20));
    p = again(p, 8 << 20, HUGE, realloc(p, HUGE));
    expect(p && errno == ENOMEM && ((char *)p)[(4 << 20) - 1] == 1);
    p = again(p, 8 << 20, HUGER, realloc(p, HUGER));
    p = again(p, 8 << 20, 24, realloc(p, 24));
    p = again(p, 24, 0, realloc(p, 0)); /* frees in glibc */
    drop(p, 0);
    drop(again(NULL, 0, 0, realloc(NULL, 0)), 0);
    refused(realloc(NULL, HUGE));
}

SITE void resizing_arrays(void)
{
    void *p = again(NULL, 0, 300, reallocarray(NULL, 3, 100));
    p = again(p, 300, 900, reallocarray(p, 9, 100));
    expect(reallocarray(p, HUGER, 2) == NULL && errno == ENOMEM); /* overflows: realloc is never called */
    p = again(p, 900, HUGE, reallocarray(p, HUGE, 1));
    drop(p, 900);
    refused(reallocarray(NULL, HUGER, HUGER));
}

SITE void aligned(void)
{
    void *p = (void *)1;
    expect(posix_memalign(&p, 64, 1000) == 0 && (uintptr_t)p % 64 == 0);
    drop(got(p, 1000), 1000);
    expect(posix_memalign(&p, 4096, 0) == 0);
    drop(got(p, 0), 0);
    p = (void *)1;
    expect(posix_memalign(&p, 0, 8) == EINVAL && posix_memalign(&p, 3, 8) == EINVAL);
    expect(posix_memalign(&p, 24, 8) == EINVAL && posix_memalign(&p, 16, HUGER) == ENOMEM && p == (void *)1);
    drop(got(aligned_alloc(256, 512), 512), 512);
    drop(got(aligned_alloc(1 << 16, 1 << 20), 1 << 20), 1 << 20);
    refused(aligned_alloc(16, HUGER));
    drop(got(memalign(32, 77), 77), 77);
    drop(got(memalign(1, 5), 5), 5);
    drop(got(memalign(ODD_ALIGN, 10), 10), 10); /* not a power of two: glibc rounds up */
    drop(got(memalign(NO_ALIGN, 10), 10), 10);
    expect(memalign(HUGER, 8) == NULL && errno == EINVAL);
    refused(memalign(64, HUGE));
    p = got(memalign(4096, 100), 100);
    p = again(p, 100, 10000, realloc(p, 10000));
    drop(p, 10000);
    drop(got(valloc(5000), 5000), 5000);
    drop(got(valloc(0), 0), 0);
    refused(valloc(HUGER));
    drop(got(pvalloc(5000), 5000), 5000); /* requested 5000, usable 8192 */
    drop(got(pvalloc(0), 0), 0);
    refused(pvalloc(HUGER));
}

SITE void other_frees(void)
{
    void *p = got(malloc(40), 40);
    expect(malloc_usable_size(p) >= 40 && malloc_usable_size(NULL) == 0);
#ifdef HAVE_CFREE
    if (old_cfree) {
        old_cfree(NULL);
        gone(p, 40);
        old_cfree(p);
        p = got(malloc(40), 40);
    }
#endif
    if (free_sized) {
        free_sized(NULL, 0);
        gone(p, 40);
        free_sized(p, 40);
        p = got(malloc(40), 40);
    }
    if (free_aligned_sized) {
        free_aligned_sized(NULL, 64, 128);
        drop(p, 40);
        p = got(aligned_alloc(64, 128), 128);
        gone(p, 128);
        free_aligned_sized(p, 64, 128);
        p = got(malloc(40), 40);
    }
    drop(p, 40);
}

SITE void mappings_(void)
{
    const int rw = PROT_READ | PROT_WRITE, anon = MAP_PRIVATE | MAP_ANONYMOUS;
    char *p = mapped(mmap(NULL, 100000, rw, anon, -1, 0));
    touch(p, 100000);
    char *q = mremap(p, 100000, 300000, MREMAP_MAYMOVE);
    expect(q != MAP_FAILED && q[0] == 1);
    unmappings++;
    mapped(q);
    expect(munmap(q, 300000) == 0);
    unmappings++;
    p = mapped(mmap64(NULL, 8192, rw, anon, -1, 0));
    expect(mapped(mmap(p, 4096, PROT_READ, anon | MAP_FIXED, -1, 0)) == p);
    expect(mremap(p, 4096, HUGE, MREMAP_MAYMOVE) == MAP_FAILED);
    expect(munmap(p + 1, 4096) == -1 && errno == EINVAL);
    expect(munmap(p, 8192) == 0);
    unmappings++;
    expect(mmap(NULL, 0, rw, anon, -1, 0) == MAP_FAILED && errno == EINVAL);
    expect(mmap(NULL, 4096, rw, MAP_PRIVATE, -1, 0) == MAP_FAILED);
    void *before = sbrk(0);
    expect(sbrk(65536) == before && sbrk(-65536) != (void *)-1);
}

SITE void leak_some(void)
{
    keep(got(malloc(1000), 1000));
    keep(got(calloc(2, 500), 1000));
    keep(got(memalign(64, 1000), 1000));
    keep(got(malloc(0), 0));
}

int main(int argc, char **argv)
{
    char line[256];
    for (long rounds = number(argc, argv, 1, 1); rounds > 0; rounds--) {
        plain();
        resizing();
        resizing_arrays();
        aligned();
        other_frees();
        mappings_();
        leak_some();
    }
    int n = snprintf(line, sizeof line, "allocations=%ld releases=%ld mappings=%ld unmappings=%ld undone=%ld end_live_bytes=%ld\n",
                     allocations, releases, mappings, unmappings, undone, live_bytes);
    return write(1, line, n) != n || faults != 0;
}
