/* Blocks freed by another thread than made them: `crossfree [blocks a producer=200000]`. Prints nothing.
 *
 * Four producers and four consumers share one bounded queue under a mutex. Consumers check a block's content,
 * then free every block but each 10,000th, which they realloc first. Exits 1 if a block arrived damaged.
 * The program itself makes 4 * blocks allocations and as many releases; each realloc adds one of both.
 */
#include "victim.h"
#include <pthread.h>
#include <stdatomic.h>

enum { PAIRS = 4, ROOM = 256 };
struct block {
    size_t size;
    unsigned char last[];
};
static struct block *queue[ROOM];
static int head, used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static long blocks;
static atomic_int damaged;

SITE struct block *produce(size_t size)
{
    struct block *b = malloc(sizeof *b + size + 1);
    b->size = size;
    b->last[size] = (unsigned char)size;
    return b;
}

SITE void consume(struct block *b, int resize)
{
    if (resize)
        b = realloc(b, sizeof *b + b->size + 5000);
    damaged += b->last[b->size] != (unsigned char)b->size;
    free(b);
}

static void *producer(void *arg)
{
    unsigned random = 17 * (unsigned)(long)arg;
    for (long i = 0; i < blocks; i++) {
        struct block *b = produce((random = random * 1664525 + 1013904223) >> 21);
        pthread_mutex_lock(&lock);
        while (used == ROOM)
            pthread_cond_wait(&not_full, &lock);
        queue[(head + used++) % ROOM] = b;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *consumer(void *arg)
{
    (void)arg;
    for (long i = 0; i < blocks; i++) {
        pthread_mutex_lock(&lock);
        while (used == 0)
            pthread_cond_wait(&not_empty, &lock);
        struct block *b = queue[head];
        head = (head + 1) % ROOM;
        used--;
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&lock);
        consume(b, i % 10000 == 9999);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2 * PAIRS];
    blocks = number(argc, argv, 1, 200000);
    for (long i = 0; i < 2 * PAIRS; i++)
        if (pthread_create(&threads[i], NULL, i < PAIRS ? producer : consumer, (void *)i))
            return 1;
    for (int i = 0; i < 2 * PAIRS; i++)
        pthread_join(threads[i], NULL);
    return damaged != 0;
}
