/* A thread forks while others allocate, each in an arena of its own: in the child they are gone, with whatever of the
 * recorder's they held. */
#include "../torture.h"

static volatile int stop;

static void *busy(void *nothing)
{
    while (!stop)
        churn(50);
    return nothing;
}

static void *forks(void *nothing)
{
    for (int i = 0; i < 25; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            churn(100);
            _exit(i);
        }
        churn(50);
        CHECK(status_of(child) == i);
    }
    return nothing;
}

int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = start_thread(busy, NULL);
    join_thread(start_thread(forks, NULL));
    stop = 1;
    for (int i = 0; i < 4; i++)
        join_thread(threads[i]);
    say("a thread had its children\n");
    return 0;
}
