/* Eight threads, each with blocks of its own only: `threads8 [steps a thread=100000]`. Prints nothing, exits 0.
 *
 * Every step replaces one of the thread's 64 blocks (malloc, calloc or memalign, 1 to 4,000 bytes); each thread
 * frees all but one of its blocks at its end. So the program itself makes 8 * (steps + 64) allocations of which
 * 8 are left; creating threads adds some.
 */
#include "victim.h"
#include <malloc.h>
#include <pthread.h>

enum { THREADS = 8, BLOCKS = 64 };
static long steps;
static void *left[THREADS];

SITE void *one_block(unsigned random)
{
    size_t size = 1 + random % 4000;
    switch (random >> 24 & 3) {
    case 0:
        return keep(calloc(1, size));
    case 1:
        return keep(memalign(64, size));
    default:
        return keep(malloc(size));
    }
}

static void *worker(void *arg)
{
    unsigned random = 1 + (unsigned)(long)arg;
    void *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = one_block(random = random * 1664525 + 1013904223);
    for (long i = 0; i < steps; i++) {
        random = random * 1664525 + 1013904223;
        free(blocks[random >> 10 & (BLOCKS - 1)]);
        blocks[random >> 10 & (BLOCKS - 1)] = one_block(random);
    }
    for (int i = 1; i < BLOCKS; i++)
        free(blocks[i]);
    left[(long)arg] = blocks[0];
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    steps = number(argc, argv, 1, 100000);
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, worker, (void *)i))
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
