/* Threads vfork and exec while others allocate: the child has the thread's own state, another number, and the rest of the
 * process goes on in the same memory meanwhile. The first call of such a thread may be the child's.
 *
 * @uncounted: the second recorder gives the children's events to their own numbers
 */
#include "../torture.h"

static char *const again[] = {(char *)"vfork_in_threads", (char *)"child", NULL};
static volatile int stop;

__attribute__((noinline)) static pid_t start(int fails)
{
    pid_t child = vfork();
    if (!child) {
        free(keep(malloc(300)));
        execve(fails ? "/nowhere" : "/proc/self/exe", again, environ);
        _exit(12);
    }
    return child;
}

static void *vforks(void *nothing)
{
    for (int i = 0; i < 6; i++) {
        pid_t child = start(i % 3);
        CHECK(child > 0);
        CHECK(status_of(child) == (i % 3 ? 12 : 11));
        if (i > 2)
            churn(20);
    }
    return nothing;
}

static void *busy(void *nothing)
{
    while (!stop)
        churn(50);
    return nothing;
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        churn(50);
        return 11;
    }
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        threads[i] = start_thread(i < 2 ? busy : vforks, NULL);
    for (int i = 2; i < 8; i++)
        join_thread(threads[i]);
    stop = 1;
    join_thread(threads[0]);
    join_thread(threads[1]);
    say("threads vforked\n");
    return 0;
}
