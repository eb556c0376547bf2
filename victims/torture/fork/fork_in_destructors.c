/* Forks where a thread or the program comes to its end, or has hardly begun: in a constructor, in destructors of
 * thread-local data, in a handler of exit, in a destructor of the program. Each child goes on from there. */
#include "../torture.h"

static pid_t first;
static int depth;

/* The child ends with the number of its place, wherever it ended. */
static void one(int place)
{
    void *inherited = keep(malloc(900));
    pid_t child = fork();
    CHECK(child >= 0);
    free(inherited);
    churn(60);
    if (!child)
        _exit(place + 10 * depth);
    CHECK(status_of(child) == place + 10 * depth);
}

__attribute__((constructor)) static void at_begin(void)
{
    first = getpid();
    one(1);
}

__attribute__((destructor)) static void at_end(void)
{
    one(2);
    say("%s\n", depth ? "child" : "parent");
}

static void at_exit(void)
{
    one(3);
}

static void on_thread_end(void *value)
{
    free(value);
    one(4);
}

static void *thread(void *nothing)
{
    pthread_key_t key;
    CHECK(pthread_key_create(&key, on_thread_end) == 0 && pthread_setspecific(key, keep(malloc(10))) == 0);
    return nothing;
}

int main(void)
{
    CHECK(atexit(at_exit) == 0);
    join_thread(start_thread(thread, NULL));
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        depth = 1;
        thread(NULL);
        pthread_exit(NULL);
    }
    CHECK(status_of(child) == 0 && getpid() == first);
    return 0;
}
