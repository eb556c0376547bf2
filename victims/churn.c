/* Random traffic to be killed in: `churn [steps=1000000, 0: endless] [threads=1]`. Prints nothing, exits 0.
 *
 * Each step replaces one of 1,024 slots of the thread by a block of 1 to 100,000 bytes, mostly small, or resizes
 * it. With one thread and s steps the program makes exactly s allocations; what is left in the slots is not freed.
 */
#include "victim.h"
#include <pthread.h>

enum { SLOTS = 1024, MAX_THREADS = 64 };
static long steps;

SITE void *fresh(size_t size)
{
    return touch(keep(malloc(size)), 1);
}

SITE void *resized(void *p, size_t size)
{
    return touch(keep(realloc(p, size)), 1);
}

static void *churn(void *arg)
{
    static __thread void *slots[SLOTS];
    unsigned random = 1 + (unsigned)(long)arg;
    for (long i = 0; steps == 0 || i < steps; i++) {
        random = random * 1664525 + 1013904223;
        void **slot = &slots[random >> 12 & (SLOTS - 1)];
        size_t size = 1 + (random >> 22) % (i % 64 ? 500 : 100000);
        if (random >> 30) {
            free(*slot);
            *slot = fresh(size);
        } else
            *slot = resized(*slot, size);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MAX_THREADS];
    steps = number(argc, argv, 1, 1000000);
    long extra = number(argc, argv, 2, 1) - 1;
    for (long i = 0; i < extra && i < MAX_THREADS; i++)
        if (pthread_create(&threads[i], NULL, churn, (void *)(i + 1)))
            return 1;
    churn(0);
    for (long i = 0; i < extra && i < MAX_THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
