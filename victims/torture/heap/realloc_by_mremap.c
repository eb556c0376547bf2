/* Blocks of megabytes that realloc moves by mremap inside libc, where no hook sees it, while neighbours are in the way. */
#include "../torture.h"
#include <malloc.h>

int main(void)
{
    enum { MIB = 1 << 20 };
    CHECK(mallopt(M_MMAP_THRESHOLD, 256 << 10) == 1);
    char *wall[32], *p = keep(malloc(MIB));
    CHECK(p);
    for (size_t i = 1; i < 32; i++) {
        p[(i - 1) * MIB] = (char)i;
        wall[i] = keep(malloc(MIB));
        p = keep(realloc(p, (i + 1) * MIB));
        CHECK(p && wall[i]);
    }
    for (size_t i = 31; i > 0; i--) {
        CHECK(p[(i - 1) * MIB] == (char)i);
        free(wall[i]);
        p = keep(realloc(p, i * MIB));
        CHECK(p);
    }
    p = keep(realloc(p, 100));
    CHECK(p && p[0] == 1);
    free(p);
    say("moved and kept\n");
    return 0;
}
