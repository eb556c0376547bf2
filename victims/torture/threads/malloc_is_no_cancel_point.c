/* A cancellation is pending while a new thread makes its first calls of malloc and many more: none of them may act on it,
 * also where a recorder opens files and makes its buffers for the thread. */
#include "../torture.h"

static int lived[20];

static void *pending(void *place)
{
    CHECK(pthread_cancel(pthread_self()) == 0);
    churn(3000);
    free(keep(malloc(1 << 20)));
    void *p = keep(realloc(keep(calloc(10, 10)), 100000));
    free(p);
    *(int *)place = 1;
    pthread_testcancel();
    *(int *)place = 2;
    return NULL;
}

int main(void)
{
    for (int i = 0; i < 20; i++) {
        void *result;
        CHECK(pthread_join(start_thread(pending, &lived[i]), &result) == 0);
        CHECK(result == PTHREAD_CANCELED && lived[i] == 1);
    }
    say("cancelled only where it is allowed\n");
    return 0;
}
