/* Children of many kinds: `forker [rounds=20]`. Prints nothing; exits 0 if every child ended as it should.
 *
 * The parent holds 100 blocks of 1,000 bytes while a second thread allocates and frees in bursts. Each round
 * forks one child of every kind below and waits for it (the kind is its exit status). Each child that allocates
 * makes 50 blocks of 64 bytes; `free_inherited` frees the 100 blocks that the first process made.
 *   1 exits by exit()    2 by _exit()    3 execs this program as `forker child`, which makes 30 blocks of 96
 *   4 frees what it inherited    5 forks a grandchild that allocates, frees what both inherited, and exits
 *   6 does nothing but _exit()   7 is killed by its own SIGKILL after allocating
 */
#include "victim.h"
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *inherited[100];
static volatile int stop;

SITE void *parent_block(void)
{
    return touch(keep(malloc(1000)), 1000);
}

SITE void child_blocks(void)
{
    for (int i = 0; i < 50; i++)
        touch(keep(malloc(64)), 64);
}

SITE void exec_blocks(void)
{
    for (int i = 0; i < 30; i++)
        touch(keep(malloc(96)), 96);
}

SITE void free_inherited(void)
{
    for (int i = 0; i < 100; i++)
        free(inherited[i]);
}

static void *busy(void *arg)
{
    while (!stop) {
        for (int i = 0; i < 50; i++) {
            free(keep(malloc(300)));
            free(keep(malloc(5000)));
        }
        usleep(100);
    }
    return arg;
}

static int ended(pid_t child)
{
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 7 * (WTERMSIG(status) == SIGKILL);
}

static void be(int kind)
{
    if (kind == 6)
        _exit(6);
    child_blocks();
    if (kind == 2)
        _exit(2);
    if (kind == 3)
        execl("/proc/self/exe", "forker", "child", (char *)NULL);
    if (kind == 4)
        free_inherited();
    if (kind == 5) {
        pid_t grandchild = fork();
        if (grandchild == 0) {
            child_blocks();
            free_inherited();
            exit(55);
        }
        if (ended(grandchild) != 55)
            _exit(99);
    }
    if (kind == 7)
        kill(getpid(), SIGKILL);
    exit(kind);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "child")) {
        exec_blocks();
        return 3;
    }
    int wrong = 0;
    pthread_t thread;
    for (int i = 0; i < 100; i++)
        inherited[i] = parent_block();
    if (pthread_create(&thread, NULL, busy, NULL))
        return 1;
    for (long rounds = number(argc, argv, 1, 20); rounds > 0; rounds--)
        for (int kind = 1; kind <= 7; kind++) {
            pid_t child = fork();
            if (child == 0)
                be(kind);
            wrong += ended(child) != kind;
        }
    stop = 1;
    pthread_join(thread, NULL);
    return wrong != 0;
}
