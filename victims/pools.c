/* libpools.so: allocators of other names, which get their memory from malloc.
 *
 * A pool cuts blocks of one size out of slabs; the first block begins where its
 * slab does. Slabs go by plain free, from a function that nobody names. The
 * others hand on what malloc gave. */
#include "pools.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 256, CELLS = 64, SLABS = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *unused[SLABS * CELLS];
static char *slabs[SLABS];
static int unused_count, slab_count;

void *pool_get(size_t size) {
    if (size > CELL) return wrap_get(size);
    pthread_mutex_lock(&lock);
    if (unused_count == 0) {
        char *slab = slabs[slab_count++] = malloc(CELL * CELLS);
        for (int cell = CELLS - 1; cell >= 0; cell--) unused[unused_count++] = slab + cell * CELL;
    }
    void *block = unused[--unused_count];
    pthread_mutex_unlock(&lock);
    return block;
}

void pool_put(void *block) {
    pthread_mutex_lock(&lock);
    unused[unused_count++] = block;
    pthread_mutex_unlock(&lock);
}

/* Everything was put back. */
void pool_trim(void) {
    for (int slab = 0; slab < slab_count; slab++) free(slabs[slab]);
    slab_count = unused_count = 0;
}

void *wrap_get(size_t size) { return malloc(size); }

void *wrap_move(void *block, size_t size) { return realloc(block, size); }

void wrap_put(void *block) { free(block); }

int wrap_aligned(void **out, size_t alignment, size_t size) { return posix_memalign(out, alignment, size); }

void *fails(size_t size) {
    (void)size;
    return 0;
}

char *text_of(const char *text) { return strcpy(malloc(strlen(text) + 100), text); }

/* Cuts from a slab that was got here: both are named. */
static char *arena;
static size_t arena_used;

void arena_create(void) {
    arena = malloc(1 << 16);
    arena_used = 0;
}

void *arena_get(int unused_here, double unused_too, size_t count, size_t size) {
    (void)unused_here;
    char *block = unused_too == 0.5 ? arena + arena_used : 0;
    arena_used += (count * size + 15) & ~(size_t)15;
    return block;
}

void arena_destroy(void) { free(arena); }
