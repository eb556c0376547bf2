/* Holes of all sizes: every second block goes, larger ones come, neighbours merge, the top is trimmed, over and over. */
#include "../torture.h"
#include <malloc.h>

enum { COUNT = 4000 };
static unsigned char *blocks[COUNT];

int main(void)
{
    for (int round = 0; round < 12; round++) {
        for (int i = 0; i < COUNT; i++)
            if (!blocks[i]) {
                size_t size = 16 + (size_t)((i * 37 + round * 1009) % (200 << round % 6));
                blocks[i] = keep(malloc(size));
                CHECK(blocks[i]);
                blocks[i][0] = blocks[i][size - 1] = (unsigned char)i;
            }
        for (int i = round % 2; i < COUNT; i += 2 + round % 3) {
            CHECK(blocks[i][0] == (unsigned char)i);
            free(blocks[i]);
            blocks[i] = NULL;
        }
        if (round % 4 == 3)
            malloc_trim(4096);
    }
    for (int i = 0; i < COUNT; i++)
        free(blocks[i]);
    say("holes filled\n");
    return 0;
}
