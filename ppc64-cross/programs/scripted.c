/* Calls by a fixed pseudo-random script: the same on every machine, whatever its words, its order of bytes and its C
 * library, which is not asked for anything else. */
#include <stdint.h>
#include <stdlib.h>

#define SITE __attribute__((noinline))
enum { BLOCKS = 61, STEPS = 3000 };
static void *blocks[BLOCKS];
static uint32_t state = 20150401;

static uint32_t next(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

SITE static void *plain(size_t size) { void *block = malloc(size); __asm__ volatile("" ::: "memory"); return block; }
SITE static void *zeroed(size_t size) { void *block = calloc(size, 3); __asm__ volatile("" ::: "memory"); return block; }
SITE static void *resized(void *old, size_t size) { void *block = realloc(old, size); __asm__ volatile("" ::: "memory"); return block; }
SITE static void *nested(uint32_t depth, size_t size)
{
    void *block = depth ? nested(depth - 1, size) : plain(size);
    __asm__ volatile("" ::: "memory");
    return block;
}

int main(void)
{
    for (int i = 0; i < STEPS; i++) {
        void **block = &blocks[next(BLOCKS)];
        uint32_t what = next(5);
        size_t size = 1 + next(what == 4 ? 300000 : 500);
        if (*block && what != 2) {
            free(*block);
            *block = NULL;
        } else if (*block || what == 2)
            *block = resized(*block, size);
        else
            *block = what == 0 ? plain(size) : what == 1 ? zeroed(size) : nested(next(40), size);
    }
    return 0;
}
