/* Four threads, each with blocks of its own and some that another releases; a thread that ends by pthread_exit in a
 * deep call, and one whose destructor of thread data allocates. */
#include "seen.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 300, HANDED = 64 };
static void *handed[THREADS][HANDED];
static pthread_barrier_t barrier;
static pthread_key_t key;
static long ended;
static volatile int deeper = 1;

SITE static void leave(int depth)
{
    free(seen());
    if (depth == 0)
        pthread_exit((void *)7);
    if (deeper)
        leave(depth - 1);
    __asm__ volatile("" ::: "memory");
}

static void at_end(void *block)
{
    free(block);
    free(seen());
    __atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
}

SITE static void *nested(int depth)
{
    void *block = depth ? nested(depth - 1) : seen();
    __asm__ volatile("" ::: "memory");
    return block;
}

static void *work(void *of)
{
    intptr_t me = (intptr_t)of;
    pthread_setspecific(key, malloc(33));
    for (int i = 0; i < HANDED; i++)
        handed[me][i] = malloc(100 + i);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < HANDED; i++)
        free(handed[(me + 1) % THREADS][i]);
    for (int i = 0; i < ROUNDS; i++) {
        void *block = nested(i % 9);
        free(realloc(block, 200 + i));
        free(calloc(1 + i % 5, 40));
    }
    if (me == 1)
        leave(5);
    return (void *)me;
}

int main(void)
{
    pthread_t threads[THREADS];
    long sum = 0;
    seen_begin();
    pthread_barrier_init(&barrier, NULL, THREADS);
    pthread_key_create(&key, at_end);
    for (intptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i))
            return 1;
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        sum += (intptr_t)result;
    }
    say("results:", sum);
    say("destructors:", ended);
    return 0;
}
