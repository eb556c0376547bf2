/* posix_memalign with alignments that are none: EINVAL, no errno, and the pointer it was given stays as it was. */
#include "../torture.h"
#include <malloc.h>

int main(void)
{
    static const volatile size_t wrong[] = {0, 1, 2, 3, 4, 7, 12, 24, 100, SIZE_MAX, SIZE_MAX - 7, ((size_t)1 << 40) + 8};
    static const volatile size_t absurd[] = {PTRDIFF_MAX, SIZE_MAX, SIZE_MAX - 64};
    void *const mark = (void *)(uintptr_t)0x1234;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        void *p = mark;
        errno = 7;
        CHECK(posix_memalign(&p, wrong[i], 100) == EINVAL && p == mark && errno == 7);
    }
    for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++) {
        void *p = mark;
        CHECK(posix_memalign(&p, 64, absurd[i]) == ENOMEM && p == mark);
        CHECK(posix_memalign(&p, (size_t)1 << 62, 100) == ENOMEM && p == mark);
    }
    for (size_t alignment = sizeof(void *); alignment <= 1 << 20; alignment *= 2)
        for (size_t size = 0; size < 5000; size += 1237) {
            void *p = mark;
            CHECK(posix_memalign(&p, alignment, size) == 0 && p && (uintptr_t)p % alignment == 0);
            memset(p, 1, malloc_usable_size(p));
            free(p);
        }
    say("only true alignments\n");
    return 0;
}
