/* A collector stops all threads by a signal wherever they are, also inside the allocator and the recorder,
 * and lets them go on. No one may wait for a thread that is stopped. */
#include "../torture.h"
#include <semaphore.h>

enum { THREADS = 6, TIMES = 60 };
static sem_t stopped, resumed, running;
static volatile int over;

static void on_stop(int number)
{
    int saved = errno;
    (void)number;
    sem_post(&stopped);
    while (sem_wait(&resumed) != 0)
        ;
    sem_post(&running);
    errno = saved;
}

static void *thread(void *unused)
{
    while (!over)
        churn(100);
    return unused;
}

int main(void)
{
    pthread_t ids[THREADS];
    struct sigaction action = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
    CHECK(sem_init(&stopped, 0, 0) == 0 && sem_init(&resumed, 0, 0) == 0 && sem_init(&running, 0, 0) == 0);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        ids[i] = start_thread(thread, NULL);
    for (int time = 0; time < TIMES; time++) {
        for (int i = 0; i < THREADS; i++)
            CHECK(pthread_kill(ids[i], SIGUSR1) == 0);
        for (int i = 0; i < THREADS; i++)
            CHECK(sem_wait(&stopped) == 0);
        for (int i = 0; i < THREADS; i++)
            CHECK(sem_post(&resumed) == 0);
        for (int i = 0; i < THREADS; i++)
            CHECK(sem_wait(&running) == 0);
        usleep(500);
    }
    over = 1;
    for (int i = 0; i < THREADS; i++)
        join_thread(ids[i]);
    say("stopped %d times\n", TIMES);
    return 0;
}
