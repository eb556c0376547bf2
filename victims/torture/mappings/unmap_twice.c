/* A program unmaps the same pages twice, and works between: memlog maps no small memory of its own then, for that would come to lie there. */
#include "../torture.h"
#include <sys/mman.h>
#include <time.h>

enum { PAGE = 4096, FEW = 6, BLOCKS = 40, MUCH = 64 << 20 };

static char *map(size_t bytes, int access)
{
    char *p = mmap(NULL, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED);
    return p;
}

/* For so long memory comes and goes. */
static void work(int ms)
{
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += ms * 1000000L;
    do {
        for (int i = 0; i < 100; i++) {
            char *volatile block = malloc(100);
            free(block);
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - end.tv_sec) * 1000000000L + now.tv_nsec - end.tv_nsec < 0);
}

static void grow(size_t bytes)
{
    char *p = map(bytes, PROT_READ | PROT_WRITE);
    memset(p, 1, bytes);
    work(20);
    CHECK(munmap(p, bytes) == 0);
}

int main(void)
{
    static char *blocks[BLOCKS];
    /* What stays between, and the last of all, keep the holes small. */
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = map((FEW + 1) * PAGE, PROT_NONE);
    for (int i = 0; i < BLOCKS - 1; i++)
        CHECK(munmap(blocks[i], FEW * PAGE) == 0);
    grow(MUCH);
    for (int i = 0; i < BLOCKS - 1; i++)
        CHECK(munmap(blocks[i], FEW * PAGE) == 0);
    grow(2 * MUCH);
    say("twice\n");
    return 0;
}
