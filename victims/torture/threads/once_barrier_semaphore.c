/* Threads allocate at barriers, in a pthread_once routine, under spinning and reading locks, and hand blocks over through
 * semaphores: in lockstep, so that all of them enter the allocator at the same moment. */
#include "../torture.h"
#include <semaphore.h>

enum { THREADS = 8, ROUNDS = 100 };
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_spinlock_t spin;
static pthread_rwlock_t reading = PTHREAD_RWLOCK_INITIALIZER;
static sem_t free_place, full_place;
static void *shared, *passed;

static void initialize(void)
{
    CHECK(!shared);
    churn(100);
    shared = keep(malloc(400));
}

static void *thread(void *number)
{
    int me = (int)(intptr_t)number;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&barrier);
        void *p = keep(malloc(100));
        pthread_once(&once, initialize);
        pthread_rwlock_rdlock(&reading);
        free(keep(malloc(200)));
        pthread_rwlock_unlock(&reading);
        pthread_spin_lock(&spin);
        p = keep(realloc(p, 1000));
        pthread_spin_unlock(&spin);
        if (me % 2) {
            sem_wait(&free_place);
            passed = p;
            sem_post(&full_place);
        } else {
            sem_wait(&full_place);
            free(passed);
            sem_post(&free_place);
            free(p);
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t ids[THREADS];
    CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0 && pthread_spin_init(&spin, 0) == 0);
    CHECK(sem_init(&free_place, 0, 1) == 0 && sem_init(&full_place, 0, 0) == 0);
    for (int i = 0; i < THREADS; i++)
        ids[i] = start_thread(thread, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        join_thread(ids[i]);
    free(shared);
    say("in step\n");
    return 0;
}
