/* Two threads whose allocations come from ever new stacks: `paths [stacks a thread=100000]`. Prints nothing, exits 0.
 *
 * The bits of a number say through which of two functions each frame goes, so no two stacks of a thread are
 * alike. Every block is freed at once but each thousandth, and each thread sleeps a little behind 16.
 */
#include "victim.h"
#include <pthread.h>
#include <unistd.h>

enum { THREADS = 2, DEPTH = 30 };
static long stacks;

SITE void *left(unsigned path, int depth);
SITE void *right(unsigned path, int depth);

static inline void *one_more(unsigned path, int depth)
{
    if (depth == DEPTH)
        return keep(malloc(1 + path % 500));
    return keep(path >> depth & 1 ? left(path, depth + 1) : right(path, depth + 1));
}

SITE void *left(unsigned path, int depth) { return one_more(path, depth); }

SITE void *right(unsigned path, int depth) { return one_more(path, depth); }

static void *worker(void *arg)
{
    unsigned path = (unsigned)(long)arg;
    for (long i = 0; i < stacks; i++, path += THREADS) {
        void *block = one_more(path, 0);
        if (i % 1000 != 0)
            free(block);
        if (i % 16 == 0)
            usleep(100);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    stacks = number(argc, argv, 1, 100000);
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, worker, (void *)i))
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
