/* Eight threads fork at the same time, and their children end by exit(), with all of its handlers. */
#include "../torture.h"

static int handled;

static void allocate_late(void)
{
    churn(40);
    handled++;
}

static void *forks(void *number)
{
    int own = (int)(intptr_t)number;
    void *inherited = keep(malloc(3000));
    for (int i = 0; i < 5; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            free(inherited);
            churn(60);
            exit(own * 5 + i);
        }
        churn(30);
        CHECK(status_of(child) == own * 5 + i);
    }
    free(inherited);
    return NULL;
}

int main(void)
{
    pthread_t threads[8];
    CHECK(atexit(allocate_late) == 0);
    for (int i = 0; i < 8; i++)
        threads[i] = start_thread(forks, (void *)(intptr_t)i);
    for (int i = 0; i < 8; i++)
        join_thread(threads[i]);
    CHECK(handled == 0);
    say("forty children of eight threads\n");
    return 0;
}
