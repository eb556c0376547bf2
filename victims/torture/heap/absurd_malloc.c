/* malloc of 0, of 1, and of sizes that cannot be: NULL, ENOMEM, and the next call is as ever. */
#include "../torture.h"
#include <malloc.h>

int main(void)
{
    static const volatile size_t absurd[] = {PTRDIFF_MAX, (size_t)PTRDIFF_MAX + 1, SIZE_MAX, SIZE_MAX - 15, SIZE_MAX / 2 - 32};
    for (int round = 0; round < 100; round++)
        for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++) {
            errno = 0;
            CHECK(!keep(malloc(absurd[i])) && errno == ENOMEM);
            char *p = keep(malloc((size_t)round)), *q = keep(malloc((size_t)round));
            CHECK(p && q && p != q && malloc_usable_size(p) >= 24 && (uintptr_t)p % 16 == 0);
            memset(p, 1, malloc_usable_size(p));
            free(p);
            free(q);
        }
    say("absurd sizes are refused\n");
    return 0;
}
