/* One place that alternates two sizes for 200,000 rounds: one in the heap, one mmapped by malloc, never the same block twice. */
#include "../torture.h"
#include <malloc.h>

int main(void)
{
    CHECK(mallopt(M_MMAP_THRESHOLD, 128 << 10) == 1);
    static const volatile size_t sizes[] = {48, 150000, 48, 1000};
    void *last = NULL;
    for (int i = 0; i < 200000; i++) {
        char *p = keep(malloc(sizes[i % 16 == 1 ? 1 : i % 2 ? 3 : 0]));
        CHECK(p);
        p[47] = 1;
        free(last);
        last = p;
    }
    free(last);
    say("two sizes\n");
    return 0;
}
