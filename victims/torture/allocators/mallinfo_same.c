/* What libc's allocator says of itself is the same with a recorder, which must not live in it: mallinfo2, malloc_info,
 * malloc_stats on stderr, before and after trimming.
 *
 * @uncounted: the second recorder allocates in a constructor, to test itself
 */
#include "../torture.h"
#include <malloc.h>

static void *held[500];

static void tell(const char *when)
{
    struct mallinfo2 about = mallinfo2();
    say("%s: %zu used, %zu mmapped in %zu\n", when, about.uordblks, about.hblkhd, about.hblks);
    malloc_stats();
}

int main(void)
{
    tell("first");
    for (size_t i = 0; i < 500; i++)
        CHECK((held[i] = keep(malloc(i * 100))));
    void *mapped = keep(malloc(10 << 20));
    tell("full");
    for (int i = 0; i < 500; i += 2)
        free(held[i]);
    free(mapped);
    tell("half");
    for (int i = 1; i < 500; i += 2)
        free(held[i]);
    malloc_trim(0);
    tell("empty");
    FILE *file = fopen("info.xml", "w");
    CHECK(file && malloc_info(0, file) == 0 && fclose(file) == 0);
    return 0;
}
