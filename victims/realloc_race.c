/* Addresses that wander between threads: `realloc_race [rounds a thread=50000]`. Prints nothing, exits 0.
 *
 * Eight threads grow a block by realloc from 1,100 to 2,200 to 4,400 bytes and then free it. All use one arena, in which
 * main has left just four holes of each size with fences between them, above the sizes that glibc caches for each
 * thread. So every realloc moves, and the address that it gives up is another thread's next result: a recorder
 * that notes realloc's release after the fact shows addresses that are live twice. Each 16th round ends in a
 * mapping of 150,000 bytes. The program itself makes 24 + 8 * (3 * rounds + (rounds + 15) / 16) allocations, of which
 * 12 fences of 1,200 bytes are left; creating threads adds some.
 */
#include "victim.h"
#include <malloc.h>
#include <pthread.h>

enum { THREADS = 8, HOLES = 4, MAPPED = 150000 };
static const size_t sizes[] = {1100, 2200, 4400};
static long rounds;

SITE void *resize(void *p, size_t size)
{
    return touch(keep(realloc(p, size)), 16);
}

SITE void *fence(void)
{
    return keep(malloc(1200));
}

static void leave_holes(void)
{
    void *holes[3][HOLES];
    for (int i = 0; i < 3 * HOLES; i++) {
        holes[i % 3][i / 3] = resize(NULL, sizes[i % 3]);
        fence();
    }
    for (int i = 0; i < 3 * HOLES; i++)
        free(holes[i % 3][i / 3]);
}

static void *worker(void *arg)
{
    for (long i = 0; i < rounds; i++) {
        void *p = NULL;
        for (int step = 0; step < 3; step++)
            p = resize(p, sizes[step]);
        if (i % 16 == 0)
            p = resize(p, MAPPED);
        free(p);
    }
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    rounds = number(argc, argv, 1, 50000);
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
    leave_holes();
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, worker, NULL))
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
