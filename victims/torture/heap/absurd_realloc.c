/* A realloc or reallocarray that fails leaves the block, its bytes and its life alone; it is freed once, later. */
#include "../torture.h"

int main(void)
{
    static const volatile size_t absurd[] = {PTRDIFF_MAX, (size_t)PTRDIFF_MAX + 1, SIZE_MAX, SIZE_MAX - 15};
    volatile size_t two = 2, half = SIZE_MAX / 2 + 2;
    for (int big = 0; big < 2; big++)
        for (int round = 0; round < 50; round++) {
            size_t size = big ? 300000 : 100;
            char *p = keep(malloc(size));
            CHECK(p);
            memset(p, round, size);
            for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++) {
                errno = 0;
                CHECK(!keep(realloc(keep(p), absurd[i])) && errno == ENOMEM);
                errno = 0;
                CHECK(!keep(reallocarray(keep(p), absurd[i], two)) && errno == ENOMEM);
                errno = 0;
                CHECK(!keep(reallocarray(keep(p), half, two)) && errno == ENOMEM);
                errno = 0;
                CHECK(!keep(realloc(NULL, absurd[i])) && errno == ENOMEM);
            }
            CHECK(p[0] == round && p[size - 1] == round);
            free(p);
        }
    say("failed reallocs left their blocks\n");
    return 0;
}
