/* `noisy KIB`: its memory differs from run to run. Threads allocate blocks of random sizes, each
 * in the arena that it happens to get, and free them in another order; besides that it holds KIB. */
#include "../../victims/victim.h"
#include <pthread.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, BLOCKS = 100 };

static uint64_t seed;

static void *work(void *number)
{
    uint64_t state = seed + (uintptr_t)number * 0x9E3779B97F4A7C15u;
    char *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t size = 64 + (state >> 33) % 4000;
        blocks[i] = touch(keep(malloc(size)), size);
    }
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[(i * 7) % BLOCKS]);
    return NULL;
}

SITE static void *ballast(size_t size) { return touch(keep(malloc(size)), size); }

int main(int argc, char **argv)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    seed = (uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 32;
    pthread_t threads[THREADS];
    void *kept = ballast((size_t)number(argc, argv, 1, 20000) << 10);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    free(kept);
    return 0;
}
