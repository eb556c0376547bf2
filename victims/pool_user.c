/* Gets blocks from the allocators of pools.c and from malloc, and says how many
 * it got and gave back: "ALLOCATIONS BYTES RELEASES LIVE_BYTES". What malloc is
 * asked for behind its back is not in there. POOL_USER_ERRNO: nothing else. */
#include "pools.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 20000, KEPT = 97 };

static _Atomic long allocations, bytes, releases, live;

static void *got(void *block, size_t size) {
    if (!block) abort();
    allocations++;
    bytes += size;
    live += size;
    return block;
}

static void gone(size_t size) {
    releases++;
    live -= size;
}

static void *work(void *argument) {
    unsigned seed = 12345u + (unsigned)(size_t)argument;
    struct { void *block; size_t size; int by; } kept[KEPT] = {{0, 0, 0}};
    for (int round = 0; round < ROUNDS; round++) {
        seed = seed * 1103515245u + 12345u;
        unsigned choice = seed >> 16, which = choice % KEPT;
        if (kept[which].block) {
            if (kept[which].by == 1) pool_put(kept[which].block);
            else if (kept[which].by == 2) wrap_put(kept[which].block);
            else free(kept[which].block);
            gone(kept[which].size);
            kept[which].block = 0;
            continue;
        }
        size_t size = 1 + choice % 250;
        void *block;
        int by = choice / 256 % 5;
        switch (by) {
        case 1: block = got(pool_get(size), size); break;
        case 2: block = got(wrap_get(size), size); break;
        /* Given back by plain free. */
        case 3: block = got(wrap_get(size), size); break;
        case 4:
            block = got(wrap_get(size), size);
            gone(size);
            block = got(wrap_move(block, size + 500), size + 500);
            size += 500;
            break;
        default: block = got(malloc(size), size);
        }
        kept[which].block = block, kept[which].size = size, kept[which].by = by;
    }
    for (int which = 0; which < KEPT; which++) {
        if (!kept[which].block) continue;
        if (kept[which].by == 1) pool_put(kept[which].block);
        else free(kept[which].block);
        gone(kept[which].size);
    }
    return 0;
}

int main(void) {
    errno = 77;
    void *first = got(pool_get(100), 100);
    if (errno != 77) abort();
    /* The slab's own address, given back and got again. */
    pool_put(first), gone(100);
    if (got(pool_get(50), 50) != first) abort();
    pool_put(first), gone(50);
    pthread_t threads[THREADS];
    for (long thread = 0; thread < THREADS; thread++) pthread_create(&threads[thread], 0, work, (void *)thread);
    for (int thread = 0; thread < THREADS; thread++) pthread_join(threads[thread], 0);
    pool_trim();
    /* Where a slab was, malloc gives blocks of the program's own. */
    for (int block = 0; block < 100; block++) {
        void *plain = got(malloc(200 * 64), 200 * 64);
        free(plain), gone(200 * 64);
    }
    void *aligned;
    if (wrap_aligned(&aligned, 256, 1000)) abort();
    got(aligned, 1000);
    free(aligned), gone(1000);
    if (fails(10)) abort();
    free(0), pool_put(got(pool_get(10), 10)), gone(10);
    got(text_of("hello"), 6);
    arena_create();
    got(arena_get(1, 0.5, 3, 10), 30);
    arena_destroy(), gone(30);
    /* These stay. */
    got(pool_get(77), 77), got(pool_get(1001), 1001), got(wrap_get(55), 55), got(malloc(33), 33);
    char line[128];
    int length = snprintf(line, sizeof line, "%ld %ld %ld %ld\n", allocations, bytes, releases, live);
    return write(1, line, length) != length;
}
