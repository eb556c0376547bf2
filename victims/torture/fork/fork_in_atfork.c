/* A handler of pthread_atfork forks in the child, whose own first call is not over yet. */
#include "../torture.h"

static int depth;

static void fork_on(void)
{
    void *p = keep(malloc(100));
    if (++depth < 6) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child) {
            churn(20);
            CHECK(status_of(child) == depth + 1);
        }
    }
    free(p);
}

int main(void)
{
    CHECK(pthread_atfork(NULL, NULL, fork_on) == 0);
    void *inherited = keep(malloc(100));
    pid_t child = fork();
    CHECK(child >= 0);
    free(inherited);
    if (!child)
        exit(depth);
    CHECK(status_of(child) == 1 && depth == 0);
    say("the handlers forked\n");
    return 0;
}
