/* Detached threads free what others made and vanish on their own; no one knows when their stacks go. */
#include "../torture.h"

static int done;

static void *thread(void *block)
{
    free(block);
    churn(50);
    __atomic_add_fetch(&done, 1, __ATOMIC_RELEASE);
    return NULL;
}

int main(void)
{
    pthread_attr_t attr;
    CHECK(pthread_attr_init(&attr) == 0);
    CHECK(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0);
    for (int i = 0; i < 400; i++) {
        pthread_t id;
        CHECK(pthread_create(&id, &attr, thread, keep(malloc(200))) == 0);
        while (i - __atomic_load_n(&done, __ATOMIC_ACQUIRE) > 20)
            usleep(100);
    }
    while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < 400)
        usleep(100);
    wait_for_threads(1);
    say("all detached, all done\n");
    return 0;
}
