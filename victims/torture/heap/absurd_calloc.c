/* calloc with products that overflow, in both orders, and with zero in either place. */
#include "../torture.h"

int main(void)
{
    static const volatile size_t absurd[][2] = {
        {SIZE_MAX, SIZE_MAX}, {SIZE_MAX, 2}, {2, SIZE_MAX}, {SIZE_MAX / 2 + 1, 2}, {(size_t)1 << 32, (size_t)1 << 32},
        {((size_t)1 << 32) + 1, (size_t)1 << 32}, {PTRDIFF_MAX, 1}, {1, PTRDIFF_MAX}, {SIZE_MAX / 16 + 2, 16},
    };
    for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++) {
        errno = 0;
        CHECK(!keep(calloc(absurd[i][0], absurd[i][1])) && errno == ENOMEM);
    }
    static const volatile size_t none[][2] = {{0, 0}, {0, SIZE_MAX}, {SIZE_MAX, 0}, {1, 0}, {0, 1}};
    errno = 7;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        void *p = keep(calloc(none[i][0], none[i][1]));
        CHECK(p);
        free(p);
    }
    CHECK(errno == 7);
    say("overflow is refused, nothing is granted\n");
    return 0;
}
