/* One block grows by a million reallocs, 16 bytes at a time: most of them stay in place, none loses a byte. */
#include "../torture.h"

int main(void)
{
    enum { STEPS = 1000000 };
    char *p = NULL;
    size_t size = 0;
    for (int i = 0; i < STEPS; i++) {
        p = keep(realloc(p, size += 16));
        CHECK(p);
        p[size - 1] = (char)i;
    }
    for (int i = 0; i < STEPS; i++)
        CHECK(p[(size_t)(i + 1) * 16 - 1] == (char)i);
    free(p);
    say("%zu bytes\n", size);
    return 0;
}
