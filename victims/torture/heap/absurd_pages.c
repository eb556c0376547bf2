/* valloc and pvalloc: page alignment, whole pages, size 0, and sizes that overflow when rounded up to pages. */
#include "../torture.h"
#include <malloc.h>

int main(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    static const volatile size_t absurd[] = {PTRDIFF_MAX, SIZE_MAX, SIZE_MAX - 4095, SIZE_MAX - 4096, SIZE_MAX - 100};
    for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++) {
        errno = 0;
        CHECK(!keep(valloc(absurd[i])) && errno == ENOMEM);
        errno = 0;
        CHECK(!keep(pvalloc(absurd[i])) && errno == ENOMEM);
    }
    for (size_t size = 0; size < 5 * page; size += 511) {
        char *p = keep(valloc(size)), *q = keep(pvalloc(size));
        CHECK(p && q && (uintptr_t)p % page == 0 && (uintptr_t)q % page == 0);
        CHECK(malloc_usable_size(p) >= size && malloc_usable_size(q) >= (size + page - 1) / page * page);
        memset(p, 1, malloc_usable_size(p));
        memset(q, 2, malloc_usable_size(q));
        q = keep(realloc(q, size + 3 * page));
        CHECK(q && (!size || q[size - 1] == 2));
        free(p);
        free(q);
    }
    say("whole pages\n");
    return 0;
}
