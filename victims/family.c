/* Generations that each record much: `family [steps=200000]`. Prints nothing, exits 0.
 *
 * The first process makes 100 blocks of 1,000 bytes and 2 * steps others, of which none is left, and forks between;
 * its child keeps a block of 77,777 bytes, makes and frees `steps`, frees 50 of the blocks that it inherited, and forks a
 * child that makes and frees `steps` too. Run where a log holds less than `steps` events.
 */
#include "victim.h"
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 1024, INHERITED = 100 };
static void *inherited[INHERITED];

SITE void *fresh(size_t size)
{
    return touch(keep(malloc(size)), 1);
}

static void churn(long steps, unsigned random)
{
    static void *slots[SLOTS];
    for (long i = 0; i < steps; i++) {
        random = random * 1664525 + 1013904223;
        void **slot = &slots[random >> 12 & (SLOTS - 1)];
        free(*slot);
        *slot = fresh(1 + (random >> 22) % 500);
    }
    for (int i = 0; i < SLOTS; i++) {
        free(slots[i]);
        slots[i] = NULL;
    }
}

static int child(long steps)
{
    fresh(77777);
    churn(steps, 9);
    for (int i = 0; i < INHERITED / 2; i++)
        free(inherited[i]);
    pid_t grandchild = fork();
    if (grandchild == 0) {
        churn(steps, 11);
        exit(0);
    }
    int status = 1;
    return grandchild < 0 || waitpid(grandchild, &status, 0) < 0 || status != 0;
}

int main(int argc, char **argv)
{
    long steps = number(argc, argv, 1, 200000);
    for (int i = 0; i < INHERITED; i++)
        inherited[i] = fresh(1000);
    churn(steps, 7);
    pid_t pid = fork();
    if (pid == 0)
        exit(child(steps));
    churn(steps, 5);
    int status = 1;
    return pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0;
}
