/* Threads are cancelled asynchronously while they compute; on the way out they free and allocate. They allocated before they
 * allowed it, for malloc itself may not be cancelled so. */
#include "../torture.h"

static volatile unsigned long work;
static int started;

static void freed(void *block)
{
    free(block);
    churn(50);
}

static void *computes(void *unused)
{
    (void)unused;
    int old;
    churn(200);
    pthread_cleanup_push(freed, keep(malloc(1000)));
    CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old) == 0 && old == PTHREAD_CANCEL_DEFERRED);
    __atomic_store_n(&started, 1, __ATOMIC_RELEASE);
    for (;;)
        work += 1;
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void)
{
    for (int i = 0; i < 20; i++) {
        void *result;
        __atomic_store_n(&started, 0, __ATOMIC_RELEASE);
        pthread_t id = start_thread(computes, NULL);
        while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE))
            usleep(100);
        CHECK(pthread_cancel(id) == 0);
        CHECK(pthread_join(id, &result) == 0 && result == PTHREAD_CANCELED);
    }
    say("twenty cancelled\n");
    return 0;
}
