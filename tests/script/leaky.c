/* Leaks as they are met: what is never freed, what is freed at the very end only, a cache
 * that stays as large as it is, and what is freed at once. It prints what each function
 * leaked, and what it allocated. Blocks of a kind come from one place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SITE __attribute__((noinline, noclone))

enum { STEPS = 1500, CACHED = 40, STEP_US = 1000 };

void *volatile last;

/* No call is left out, and none is the last of its function. */
static void *keep(void *block)
{
    last = block;
    return block;
}

SITE void *linear_leak(size_t size) { return keep(malloc(size)); }
SITE void *until_the_end(size_t size) { return keep(malloc(size)); }
SITE void *bounded_leak(size_t size) { return keep(malloc(size)); }
SITE void *both(size_t size) { return keep(malloc(size)); }
SITE void *temporary(size_t size) { return keep(malloc(size)); }
SITE void *grow(void *before, size_t size) { return keep(realloc(before, size)); }
SITE void *large(size_t size) { return keep(calloc(1, size)); }
SITE void *mapped(size_t size, int protection)
{
    void *map = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return keep(map == MAP_FAILED ? NULL : map);
}

int main(void)
{
    void **list = NULL, *cache[CACHED] = {0}, *maps[4];
    size_t listed = 0, room = 0;
    unsigned long leaked = 0, leaked_bytes = 0, both_leaked = 0;
    /* A buffer would leak too. */
    setvbuf(stdout, NULL, _IONBF, 0);
    maps[0] = mapped(1 << 16, PROT_READ | PROT_WRITE);
    maps[1] = mapped(1 << 20, PROT_READ);
    maps[2] = mapped(3 << 12, PROT_READ | PROT_WRITE);
    maps[3] = mapped(1 << 14, PROT_NONE);
    munmap(maps[2], 3 << 12);
    void *big = large(1 << 20);
    for (unsigned step = 0; step < STEPS; step++) {
        for (int i = 0; i < 3; i++)
            free(temporary(64 + step % 700));
        linear_leak(200 + step % 32);
        leaked++;
        leaked_bytes += 200 + step % 32;
        if (listed == room) {
            room = room ? 2 * room : 8;
            list = grow(list, room * sizeof *list);
        }
        list[listed++] = until_the_end(40 + step % 9);
        free(cache[step % CACHED]);
        cache[step % CACHED] = bounded_leak(100);
        void *one = both(24);
        if (step % 50 == 0)
            both_leaked++;
        else
            free(one);
        usleep(STEP_US);
    }
    printf("linear_leak %lu %lu\n", leaked, leaked_bytes);
    printf("bounded_leak %d %d\n", CACHED, CACHED * 100);
    printf("both %lu %lu\n", both_leaked, both_leaked * 24);
    for (size_t at = 0; at < listed; at++)
        free(list[at]);
    free(list);
    free(big);
    return 0;
}
