/* Threads are cancelled where they block (read, a semaphore, a condition, sleep), each with a block to free. */
#include "../torture.h"
#include <semaphore.h>

static sem_t never, ready;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ends[2], cleaned;

static void clean_up(void *block)
{
    free(block);
    __atomic_add_fetch(&cleaned, 1, __ATOMIC_RELAXED);
}

static void unlock(void *unused)
{
    (void)unused;
    pthread_mutex_unlock(&mutex);
}

static void block_in(int kind)
{
    char c;
    if (kind == 0)
        CHECK(read(ends[0], &c, 1) < 0);
    else if (kind == 1)
        sem_wait(&never);
    else if (kind == 2)
        sleep(1000);
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, NULL);
    for (;;)
        pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(1);
}

static void *thread(void *kind)
{
    pthread_cleanup_push(clean_up, keep(malloc(1000)));
    churn(100);
    sem_post(&ready);
    block_in((int)(intptr_t)kind);
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void)
{
    CHECK(pipe(ends) == 0 && sem_init(&never, 0, 0) == 0 && sem_init(&ready, 0, 0) == 0);
    for (int i = 0; i < 20; i++) {
        void *result;
        pthread_t id = start_thread(thread, (void *)(intptr_t)(i % 4));
        CHECK(sem_wait(&ready) == 0);
        CHECK(pthread_cancel(id) == 0);
        CHECK(pthread_join(id, &result) == 0 && result == PTHREAD_CANCELED);
    }
    say("%d cleaned up\n", cleaned);
    return 0;
}
