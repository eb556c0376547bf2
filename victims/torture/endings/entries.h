/* The entry points of an allocator by number: each gets a block by that one, and releases it. */
#ifndef ENTRIES_H
#define ENTRIES_H

#include "../torture.h"
#include <malloc.h>
#include <sys/mman.h>

enum { ENTRIES = 20 };

static inline void enter(int n)
{
    volatile size_t size = 100;
    void *p = NULL, *area;
    switch (n) {
    case 0: p = keep(malloc(size)); break;
    case 1: p = keep(calloc(size, 3)); break;
    case 2: p = keep(realloc(NULL, size)); break;
    case 3: p = keep(reallocarray(NULL, size, 3)); break;
    case 4: CHECK(posix_memalign(&p, 64, size) == 0); break;
    case 5: p = keep(aligned_alloc(64, size)); break;
    case 6: p = keep(memalign(64, size)); break;
    case 7: p = keep(valloc(size)); break;
    case 8: p = keep(pvalloc(size)); break;
    case 9: p = keep(strdup("a string")); break;
    case 10: free(keep(NULL)); return;
    case 11: CHECK(malloc_usable_size(keep(NULL)) == 0); return;
    case 12: p = keep(malloc(size)); CHECK(malloc_usable_size(p) >= size); break;
    case 13: p = keep(realloc(keep(malloc(size)), size * 100)); break;
    case 14: CHECK(keep(sbrk(0)) != (void *)-1); return;
    case 15: CHECK(brk(keep(sbrk(0))) == 0); return;
    case 16: CHECK(munmap((void *)(uintptr_t)(size | 1), size) == -1 && errno == EINVAL); return;
    case 17: CHECK(mremap((void *)(uintptr_t)(size | 1), size, size, 0) == MAP_FAILED && errno == EINVAL); return;
    case 18:
        area = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(area != MAP_FAILED);
        touch(area, 8192);
        CHECK(munmap(area, 8192) == 0);
        return;
    case 19: CHECK(mallopt(M_MMAP_THRESHOLD, 1 << 20) == 1); return;
    }
    CHECK(p);
    CHECK(!keep(realloc(p, 0)));
}

/* This program once for each entry point, the number being its argument. */
static inline void run_each(void)
{
    for (int n = 0; n < ENTRIES; n++) {
        char number[8];
        snprintf(number, sizeof number, "%d", n);
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            execl("/proc/self/exe", "self", number, (char *)NULL);
            _exit(97);
        }
        CHECK(status_of(child) == 0);
    }
}

#endif
