/* Three hundred thousand tiny blocks live at once, linked, then released from the middle outwards. */
#include "../torture.h"

enum { COUNT = 300000 };
static void *blocks[COUNT];

int main(void)
{
    for (int i = 0; i < COUNT; i++) {
        size_t size = (size_t)(i % 25);
        blocks[i] = keep(i % 2 ? malloc(size) : calloc(size, 1));
        CHECK(blocks[i]);
    }
    for (int i = 0; i < COUNT / 2; i++) {
        free(blocks[COUNT / 2 + i]);
        free(blocks[COUNT / 2 - 1 - i]);
    }
    say("%d blocks\n", COUNT);
    return 0;
}
