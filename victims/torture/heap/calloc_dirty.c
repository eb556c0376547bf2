/* calloc gives zeros out of memory that was dirty before, from every place libc keeps it: tcache, bins, top, mmapped, trimmed. */
#include "../torture.h"
#include <malloc.h>

int main(void)
{
    static const size_t sizes[] = {1, 24, 100, 1032, 1040, 5000, 70000, 140000, 2000000};
    for (int round = 0; round < 8; round++) {
        CHECK(mallopt(M_PERTURB, round % 3 == 2 ? 0xa5 : 0) == 1);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            char *held[12];
            for (int k = 0; k < 12; k++) {
                held[k] = keep(malloc(sizes[i]));
                CHECK(held[k]);
                memset(held[k], 0xff, malloc_usable_size(held[k]));
            }
            for (int k = 0; k < 12; k++)
                free(held[k]);
            if (round % 4 == 3)
                malloc_trim(0);
            for (int k = 0; k < 12; k++) {
                held[k] = keep(k % 2 ? calloc(1, sizes[i]) : calloc(sizes[i], 1));
                CHECK(held[k]);
                for (size_t at = 0; at < sizes[i]; at += at < 6000 ? 1 : 509)
                    CHECK(held[k][at] == 0);
                CHECK(held[k][sizes[i] - 1] == 0);
            }
            for (int k = 0; k < 12; k++)
                free(held[k]);
        }
    }
    say("all zero\n");
    return 0;
}
