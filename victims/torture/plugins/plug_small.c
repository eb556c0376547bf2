/* A plugin whose function has a small frame; the same code with a large one is plug_large.
 *
 * @plugin
 */
#include "../torture.h"

#ifndef FRAME
#define FRAME 64
#endif

SITE void *plug_alloc(size_t size)
{
    volatile char room[FRAME];
    room[0] = room[FRAME - 1] = 1;
    void *block = keep(malloc(size + (size_t)room[0] - (size_t)room[FRAME - 1]));
    CHECK(block);
    memset(block, 7, size);
    return block;
}

SITE void plug_release(void *block)
{
    free(block);
    keep(NULL);
}

SITE void plug_churn(int rounds)
{
    churn(rounds);
    keep(NULL);
}
