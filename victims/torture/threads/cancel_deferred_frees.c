/* Threads that allocate in loops are cancelled at a pthread_testcancel; their cleanup handlers free what they hold. */
#include "../torture.h"
#include <semaphore.h>

enum { THREADS = 8 };
static sem_t started, cleaned;

static void clean_up(void *place)
{
    free(*(void **)place);
    churn(20);
    sem_post(&cleaned);
}

static void *loop(void *unused)
{
    (void)unused;
    void *held = keep(malloc(100));
    pthread_cleanup_push(clean_up, &held);
    sem_post(&started);
    for (size_t i = 0;; i++) {
        pthread_testcancel();
        free(held);
        held = keep(malloc(i % 3000));
    }
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    CHECK(sem_init(&started, 0, 0) == 0 && sem_init(&cleaned, 0, 0) == 0);
    for (int i = 0; i < THREADS; i++)
        threads[i] = start_thread(loop, NULL);
    for (int i = 0; i < THREADS; i++)
        CHECK(sem_wait(&started) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        CHECK(pthread_cancel(threads[i]) == 0);
        CHECK(pthread_join(threads[i], &result) == 0 && result == PTHREAD_CANCELED);
    }
    int count;
    CHECK(sem_getvalue(&cleaned, &count) == 0 && count == THREADS);
    say("all cleaned up\n");
    return 0;
}
