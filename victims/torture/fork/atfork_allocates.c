/* The handlers of pthread_atfork allocate and release on all three sides, each its own and what another one left. */
#include "../torture.h"

static void *left;
static volatile int stop, prepared, followed;

static void prepare(void)
{
    churn(30);
    left = keep(malloc(2222));
    prepared++;
}

static void follow(void)
{
    free(left);
    left = NULL;
    churn(30);
    followed++;
}

static void *busy(void *nothing)
{
    while (!stop)
        churn(50);
    return nothing;
}

int main(void)
{
    for (int i = 0; i < 60; i++)
        CHECK(pthread_atfork(NULL, NULL, NULL) == 0);
    CHECK(pthread_atfork(prepare, follow, follow) == 0);
    pthread_t thread = start_thread(busy, NULL);
    for (int i = 1; i <= 15; i++) {
        pid_t child = fork();
        CHECK(child >= 0 && prepared == i && followed == i && !left);
        if (!child) {
            churn(50);
            exit(i);
        }
        CHECK(status_of(child) == i);
    }
    stop = 1;
    join_thread(thread);
    say("handlers of fork allocate\n");
    return 0;
}
