/* Blocks within mappings of the program's own. With -DLIBRARY the allocator, else the
 * program: `area NAME blocks=N bytes=N` is what came to lie in each mapping. */
#include <stddef.h>

void *pool_get(size_t size);
void pool_put(void *block);
void pool_open(void *area);

#ifdef LIBRARY
static char *next;

void pool_open(void *area)
{
    next = area;
}

void *pool_get(size_t size)
{
    char *block = next;
    next += (size + 15) & ~(size_t)15;
    return block;
}

void pool_put(void *block)
{
    (void)block;
}
#else
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define AREA (1 << 20)
#define SITE __attribute__((noinline))

/* Longer than a step of any clock: events do not say in which order calls of
 * different kinds came. */
static void wait_for_the_clock(void)
{
    usleep(60000);
}

static void fill(const char *name, void *area, void **blocks, int count, size_t size)
{
    if (area == MAP_FAILED)
        exit(1);
    wait_for_the_clock();
    pool_open(area);
    for (int i = 0; i < count; i++)
        blocks[i] = pool_get(size);
    printf("area %s bytes=%zu blocks=%d\n", name, count * size, count);
    wait_for_the_clock();
}

/* No call of the last line of a function, which would leave it before. */
static inline void *kept(void *area)
{
    __asm__ volatile("" : "+r"(area));
    return area;
}

SITE static void *first(void)
{
    return kept(mmap(0, AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

SITE static void *second(void)
{
    return kept(mmap(0, AREA, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

SITE static void *third(void *at)
{
    return kept(mmap(at, AREA, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
}

SITE static void *empty(void)
{
    return kept(mmap(0, AREA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

int main(void)
{
    static void *blocks[100];
    void *area = first();
    fill("first", area, blocks, 30, 1000);
    fill("second", second(), blocks + 30, 20, 500);
    for (int i = 0; i < 30; i++)
        pool_put(blocks[i]);
    wait_for_the_clock();
    munmap(area, AREA);
    /* The same addresses as the first. */
    fill("third", third(area), blocks, 10, 300);
    if (empty() == MAP_FAILED)
        return 1;
    free(malloc(5000));
    return 0;
}
#endif
