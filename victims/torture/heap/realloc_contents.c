/* realloc in all directions keeps the bytes: between bins, to the heap's end, from and to mmapped blocks, to nothing, from
 * nothing.
 */
#include "../torture.h"
#include <malloc.h>

static unsigned char mark(size_t i)
{
    return (unsigned char)(i * 31 + i / 251);
}

int main(void)
{
    static const size_t sizes[] = {1, 24, 25, 1000, 1032, 1100, 65536, 131072, 200000, 3000000, 4096, 17, 500000, 100, 8000000};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    for (int from = 0; from < COUNT; from++)
        for (int to = 0; to < COUNT; to++) {
            unsigned char *p = keep(realloc(NULL, sizes[from]));
            CHECK(p);
            size_t kept = sizes[from] < sizes[to] ? sizes[from] : sizes[to];
            size_t step = kept / 300 + 1;
            for (size_t i = 0; i < kept; i += step)
                p[i] = mark(i);
            void *guard = keep(malloc(100));
            p = keep(to % 2 ? realloc(p, sizes[to]) : reallocarray(p, sizes[to], 1));
            CHECK(p && malloc_usable_size(p) >= sizes[to]);
            for (size_t i = 0; i < kept; i += step)
                CHECK(p[i] == mark(i));
            p[sizes[to] - 1] = 1;
            free(guard);
            errno = 7;
            CHECK(!keep(realloc(p, 0)) && errno == 7);
        }
    say("%d pairs of sizes\n", COUNT * COUNT);
    return 0;
}
