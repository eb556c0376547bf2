/* Blocks that come back as others: `handback [rounds=2000]`. Prints nothing.
 *
 * One thread hands a block to another, which frees it, asks for one of the same size, which glibc takes from the same
 * place, and hands that back; the first thread frees it. So the first thread came by an address and frees it, and
 * these are two blocks. Then both make blocks of their own that go at once, until what they wrote down of the others
 * is long past.
 */
#include "victim.h"
#include <pthread.h>

enum { SIZES = 40, OWN = 20 };
static void *volatile handed;
static pthread_barrier_t barrier;
static long rounds;

SITE void *ask(long round)
{
    return touch(malloc(24 + 16 * (size_t)(round % SIZES)), 24);
}

static void make_own(void)
{
    for (long i = 0; i < OWN * rounds; i++)
        free(keep(malloc(1000 + (size_t)(i % 8))));
}

static void *other(void *arg)
{
    (void)arg;
    for (long i = 0; i < rounds; i++) {
        pthread_barrier_wait(&barrier);
        free(handed);
        handed = ask(i);
        pthread_barrier_wait(&barrier);
    }
    make_own();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    rounds = number(argc, argv, 1, 2000);
    pthread_barrier_init(&barrier, NULL, 2);
    if (pthread_create(&thread, NULL, other, NULL))
        return 1;
    for (long i = 0; i < rounds; i++) {
        handed = ask(i);
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        free(handed);
    }
    make_own();
    pthread_join(thread, NULL);
    return 0;
}
