/* A hundred threads stand still, with blocks and keys of theirs, when main returns: they are gone without having ended. */
#include "../torture.h"
#include <semaphore.h>

static sem_t ready;
static pthread_key_t key;

static void never(void *block)
{
    free(block);
    say("a thread ended\n");
}

static void *thread(void *unused)
{
    (void)unused;
    churn(100);
    CHECK(pthread_setspecific(key, keep(malloc(100))) == 0);
    sem_post(&ready);
    for (;;)
        pause();
}

static void at_exit(void)
{
    churn(1000);
    say("left\n");
}

int main(void)
{
    CHECK(sem_init(&ready, 0, 0) == 0 && pthread_key_create(&key, never) == 0 && atexit(at_exit) == 0);
    for (int i = 0; i < 100; i++)
        start_thread(thread, NULL);
    for (int i = 0; i < 100; i++)
        while (sem_wait(&ready) != 0)
            CHECK(errno == EINTR);
    return 6;
}
