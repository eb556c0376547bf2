/* Blocks of memalign and its kin are given to realloc, which may move them off their alignment but keeps their bytes. */
#include "../torture.h"
#include <malloc.h>

int main(void)
{
    for (size_t alignment = 16; alignment <= 65536; alignment *= 2)
        for (size_t size = 10; size < 400000; size = size * 5 + 3) {
            void *taken = NULL;
            CHECK(posix_memalign(&taken, alignment, size) == 0);
            char *blocks[] = {keep(memalign(alignment, size)), keep(aligned_alloc(alignment, size)), taken, keep(valloc(size))};
            for (size_t i = 0; i < 4; i++) {
                CHECK(blocks[i]);
                memset(blocks[i], (int)i, size);
            }
            for (size_t i = 0; i < 4; i++) {
                blocks[i] = keep(realloc(blocks[i], size * 2));
                CHECK(blocks[i] && blocks[i][0] == (char)i && blocks[i][size - 1] == (char)i);
                blocks[i] = keep(realloc(blocks[i], size / 2));
                CHECK(blocks[i] && blocks[i][size / 2 - 1] == (char)i);
                free(blocks[i]);
            }
        }
    say("bytes kept\n");
    return 0;
}
