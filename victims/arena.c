/* An allocator of the program's own, which tells memlog.h of its blocks. Its memory comes from malloc, a pool of
 * 64 KiB at a time. At the end it says what is live by a count of its own: `small BYTES BLOCKS`, `moved ...`,
 * `first ...`, `plain ...`, and `asked BYTES BLOCKS` for all that `small` ever asked for.
 *
 * `arena silent` says nothing of its blocks and pools to memlog. */
#define _GNU_SOURCE
#include "../include/memlog.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POOL 65536

struct arena { char *pool, *pools[64]; size_t used, count; };

static int is_silent;

/* The compiler leaves out what it sees nobody use. */
static void *kept(void *block) {
    __asm__ volatile("" : "+r"(block) : : "memory");
    return block;
}

static void *cut(struct arena *arena, size_t size) {
    size = (size + 15) & ~(size_t)15;
    if (!arena->pool || arena->used + size > POOL) {
        arena->pool = kept(malloc(POOL)), arena->used = 0;
        arena->pools[arena->count++] = arena->pool;
        if (!is_silent)
            memlog_pool(arena->pool);
    }
    arena->used += size;
    return arena->pool + arena->used - size;
}

__attribute__((noinline)) static void *get(struct arena *arena, size_t size) {
    void *block = cut(arena, size);
    if (!is_silent)
        memlog_custom_alloc(block, size);
    return block;
}

static void give(void *block) {
    if (!is_silent)
        memlog_custom_free(block);
}

__attribute__((noinline)) static void *resize(struct arena *arena, void *old, size_t before, size_t size) {
    void *block = cut(arena, size);
    memcpy(block, old, before < size ? before : size);
    if (!is_silent)
        memlog_custom_realloc(old, block, size);
    return block;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long live[4][2], asked[2];

static void count(int what, long bytes, long blocks) {
    pthread_mutex_lock(&lock);
    live[what][0] += bytes, live[what][1] += blocks;
    if (what == 0 && blocks > 0)
        asked[0] += bytes, asked[1] += blocks;
    pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static void *small(struct arena *arena, size_t size) {
    count(0, size, 1);
    return kept(get(arena, size)); /* no jump, which would leave no frame */
}

static void *work(void *number) {
    struct arena arena;
    long n = (long)number;
    memset(&arena, 0, sizeof arena);
    for (int i = 0; i < 3000; i++) {
        void *block = small(&arena, 1 + (i * 7 + n) % 300);
        if (i % 3) {
            give(block);
            count(0, -(1 + (i * 7 + n) % 300), -1);
        } else if (i % 30 == 0) {
            kept(resize(&arena, block, 1 + (i * 7 + n) % 300, 500 + n));
            count(0, -(1 + (i * 7 + n) % 300), -1);
            count(1, 500 + n, 1);
        }
    }
    return NULL;
}

/* A pool that is given back with all that was cut from it, each told before. */
static void come_and_go(void) {
    for (int round = 0; round < 50; round++) {
        struct arena arena;
        memset(&arena, 0, sizeof arena);
        void *blocks[600];
        for (int i = 0; i < 600; i++)
            blocks[i] = small(&arena, 200);
        for (int i = 0; i < 600; i++)
            give(blocks[i]);
        count(0, -600 * 200, -600);
        for (size_t i = 0; i < arena.count; i++)
            free(arena.pools[i]);
    }
}

/* The block that begins where its pool does goes with the pool. */
__attribute__((noinline)) static void *first(struct arena *arena) { return kept(get(arena, 77)); }

__attribute__((noinline)) static void *plain(size_t size) {
    count(3, size, 1);
    return kept(malloc(size));
}

int main(int arguments, char **argument) {
    pthread_t threads[3];
    struct arena one, other;
    is_silent = arguments > 1 && strcmp(argument[1], "silent") == 0;
    kept(plain(1234));
    for (long n = 0; n < 3; n++)
        pthread_create(&threads[n], NULL, work, (void *)n);
    for (int n = 0; n < 3; n++)
        pthread_join(threads[n], NULL);
    come_and_go();
    memset(&one, 0, sizeof one), memset(&other, 0, sizeof other);
    kept(first(&one));
    free(one.pools[0]);
    kept(first(&other));
    count(2, 77, 1);
    kept(plain(4321));
    const char *names[] = {"small", "moved", "first", "plain"};
    char line[256];
    int length = snprintf(line, sizeof line, "asked %ld %ld\n", asked[0], asked[1]);
    for (int i = 0; i < 4; i++)
        length += snprintf(line + length, sizeof line - length, "%s %ld %ld\n", names[i], live[i][0], live[i][1]);
    return write(1, line, length) != length;
}
