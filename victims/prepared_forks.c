/* Forks that are long under way: `prepared_forks [rounds=20]`. Prints nothing; exits 0 if every child ended well.
 *
 * A handler of pthread_atfork takes 12 ms before each fork, in which another thread fills several chunks of a log:
 * it holds 512 blocks and replaces the oldest again and again. Each child allocates once and exits.
 */
#include "victim.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HELD = 512 };

static volatile int stop;

static void prepare(void)
{
    usleep(12000);
}

static void *replaces(void *arg)
{
    static void *held[HELD];
    for (unsigned i = 0; !stop; i++) {
        free(held[i % HELD]);
        held[i % HELD] = keep(malloc(100 + i % 64));
    }
    for (int i = 0; i < HELD; i++)
        free(held[i]);
    return arg;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 20, failed = 0;
    pthread_t thread;
    if (pthread_atfork(prepare, NULL, NULL) || pthread_create(&thread, NULL, replaces, NULL))
        return 2;
    for (int round = 0; round < rounds; round++) {
        pid_t child = fork();
        if (child == 0) {
            free(keep(malloc(64)));
            exit(0);
        }
        int status = 1;
        failed |= child < 0 || waitpid(child, &status, 0) != child || status != 0;
    }
    stop = 1;
    pthread_join(thread, NULL);
    return failed;
}
