/* A thread is cancelled while it ends: a cleanup handler and a key's destructor allocate, cancel the thread again and pass
 * cancellation points, and both run to their ends. */
#include "../torture.h"

static pthread_key_t key;
static int handlers, destructors;

static void again(void)
{
    CHECK(pthread_cancel(pthread_self()) == 0);
    churn(100);
    usleep(1);
    pthread_testcancel();
    churn(100);
}

static void handler(void *block)
{
    again();
    free(block);
    handlers++;
}

static void destructor(void *block)
{
    again();
    free(block);
    destructors++;
}

static void *thread(void *unused)
{
    (void)unused;
    CHECK(pthread_setspecific(key, keep(malloc(333))) == 0);
    pthread_cleanup_push(handler, keep(malloc(222)));
    CHECK(pthread_cancel(pthread_self()) == 0);
    for (;;)
        pthread_testcancel();
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void)
{
    CHECK(pthread_key_create(&key, destructor) == 0);
    for (int i = 0; i < 10; i++) {
        void *result;
        CHECK(pthread_join(start_thread(thread, NULL), &result) == 0 && result == PTHREAD_CANCELED);
    }
    say("%d handlers, %d destructors\n", handlers, destructors);
    return 0;
}
