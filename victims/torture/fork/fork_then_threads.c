/* A child of a thread makes threads of its own, which fork in turn, while its parent's go on. */
#include "../torture.h"

static volatile int stop;

static void *busy(void *nothing)
{
    while (!stop)
        churn(50);
    return nothing;
}

static void *forks(void *levels)
{
    int level = (int)(intptr_t)levels;
    void *inherited = keep(malloc(777));
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            free(inherited);
            pthread_t other = start_thread(busy, NULL);
            if (level < 3)
                join_thread(start_thread(forks, (void *)(intptr_t)(level + 1)));
            stop = 1;
            join_thread(other);
            exit(level);
        }
        CHECK(status_of(child) == level);
    }
    free(inherited);
    return NULL;
}

int main(void)
{
    pthread_t threads[2] = {start_thread(busy, NULL), start_thread(busy, NULL)};
    join_thread(start_thread(forks, (void *)1));
    stop = 1;
    for (int i = 0; i < 2; i++)
        join_thread(threads[i]);
    say("threads and children\n");
    return 0;
}
