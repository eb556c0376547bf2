/* aligned_alloc and memalign with odd, tiny and huge alignments, and sizes that are no multiple of them. What libc makes of
 * them is its own affair, but it is the same with a recorder: so the answers are printed.
 */
#include "../torture.h"
#include <malloc.h>

static void one(const char *name, void *(*get)(size_t, size_t), size_t alignment, size_t size)
{
    errno = 0;
    void *p = keep(get(alignment, size));
    int why = errno;
    uintptr_t power = 1;
    while (power < alignment && power < (uintptr_t)1 << 40)
        power *= 2;
    say("%s %zx %zx: %s %d%s\n", name, alignment, size, p ? "a block" : "nothing", why,
        p && (uintptr_t)p % power ? " askew" : "");
    if (p)
        memset(p, 1, malloc_usable_size(p));
    free(p);
}

int main(void)
{
    static const size_t alignments[] = {0, 1, 2, 3, 8, 15, 16, 17, 48, 64, 4096, 5000, 1 << 21, SIZE_MAX / 2 + 2, SIZE_MAX};
    static const size_t sizes[] = {0, 1, 63, 65, 10000, PTRDIFF_MAX, SIZE_MAX};
    for (size_t i = 0; i < sizeof alignments / sizeof *alignments; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            one("aligned_alloc", aligned_alloc, alignments[i], sizes[k]);
            one("memalign", memalign, alignments[i], sizes[k]);
        }
    /* Beyond what is there, unless the machine overcommits without end. */
    void *p = keep(aligned_alloc((size_t)1 << 40, (size_t)1 << 40));
    CHECK(p || errno == ENOMEM);
    CHECK((uintptr_t)p % ((uintptr_t)1 << 40) == 0);
    free(p);
    return 0;
}
