/* The main thread is cancelled, with blocks to free in its handlers; the process goes on in another and ends with its code. */
#include "../torture.h"

static pthread_t first;

static void freed(void *block)
{
    free(block);
    say("main cleaned up\n");
}

static void *second(void *unused)
{
    void *result;
    (void)unused;
    CHECK(pthread_cancel(first) == 0);
    CHECK(pthread_join(first, &result) == 0 && result == PTHREAD_CANCELED);
    churn(1000);
    say("and the other goes on\n");
    exit(5);
}

int main(void)
{
    first = pthread_self();
    pthread_cleanup_push(freed, keep(malloc(100)));
    start_thread(second, NULL);
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return 0;
}
