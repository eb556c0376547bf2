/* Eight threads in a ring: each releases or resizes what the thread before it allocated, so that no block dies where it was
 * born.
 */
#include "../torture.h"

enum { THREADS = 8, BLOCKS = 5000, ROOM = 64 };

static struct ring {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char *blocks[ROOM];
    int in, out;
} rings[THREADS];

static void put(struct ring *ring, char *block)
{
    pthread_mutex_lock(&ring->lock);
    while (ring->in - ring->out == ROOM)
        pthread_cond_wait(&ring->changed, &ring->lock);
    ring->blocks[ring->in++ % ROOM] = block;
    pthread_cond_signal(&ring->changed);
    pthread_mutex_unlock(&ring->lock);
}

static char *take(struct ring *ring)
{
    pthread_mutex_lock(&ring->lock);
    while (ring->in == ring->out)
        pthread_cond_wait(&ring->changed, &ring->lock);
    char *block = ring->blocks[ring->out++ % ROOM];
    pthread_cond_signal(&ring->changed);
    pthread_mutex_unlock(&ring->lock);
    return block;
}

static void *link_of(void *number)
{
    int own = (int)(intptr_t)number;
    for (int i = 0; i < BLOCKS; i++) {
        size_t size = 32 + (size_t)(i * 17 % 1500);
        char *block = keep(malloc(size));
        CHECK(block);
        memset(block, own, 32);
        put(&rings[own], block);
        block = take(&rings[(own + THREADS - 1) % THREADS]);
        CHECK(block[0] == (own + THREADS - 1) % THREADS && block[31] == block[0]);
        if (i % 3 == 0) {
            char expected = block[0];
            block = keep(realloc(block, size * 2));
            CHECK(block && block[31] == expected);
        }
        free(block);
    }
    return NULL;
}

int main(void)
{
    pthread_t ids[THREADS];
    for (int i = 0; i < THREADS; i++) {
        pthread_mutex_init(&rings[i].lock, NULL);
        pthread_cond_init(&rings[i].changed, NULL);
    }
    for (int i = 0; i < THREADS; i++)
        ids[i] = start_thread(link_of, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        join_thread(ids[i]);
    say("%d blocks went round\n", THREADS * BLOCKS);
    return 0;
}
