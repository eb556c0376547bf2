/* Every byte that malloc_usable_size promises is written, beside neighbours that are checked, and the promise is the same
 * with a recorder: what it is for each size goes into a sum.
 *
 * @uncounted: the second recorder allocates in a constructor, after which the heap lies otherwise
 */
#include "../torture.h"
#include <malloc.h>

int main(void)
{
    enum { HELD = 64 };
    unsigned char *held[HELD];
    unsigned long sum = 0;
    for (size_t base = 0; base < 6000; base += 97) {
        for (size_t i = 0; i < HELD; i++) {
            held[i] = keep(i % 3 ? malloc(base + i) : i % 2 ? calloc(base + i, 1) : memalign(64, base + i));
            CHECK(held[i]);
            size_t usable = malloc_usable_size(held[i]);
            CHECK(usable >= base + i);
            if (i % 3)
                sum = sum * 31 + usable;
            memset(held[i], (int)i, usable);
        }
        for (size_t i = 0; i < HELD; i++) {
            CHECK(held[i][0] == i && held[i][malloc_usable_size(held[i]) - 1] == i);
            free(held[i]);
        }
    }
    say("sum %lx\n", sum);
    return 0;
}
