/* Children that share the parent's memory: `vforker [rounds=20]`. Prints nothing, exits 0 if all went well.
 *
 * Each round: vfork + allocate + free + _exit (its 2 events belong to the parent's stream, under the child's
 * thread id), vfork + exec of `vforker child`, and posix_spawn of the same; `child` makes 30 blocks of 96 bytes.
 * The parent makes one block of 500 bytes a round itself. posix_spawn may allocate within libc.
 */
#define _GNU_SOURCE
#include "victim.h"
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char *const child_argv[] = {(char *)"vforker", (char *)"child", NULL};

SITE void spawned_blocks(void)
{
    for (int i = 0; i < 30; i++)
        touch(keep(malloc(96)), 96);
}

SITE void parent_block(void)
{
    touch(keep(malloc(500)), 500);
}

SITE void borrowed_block(void)
{
    free(keep(malloc(700)));
}

static int ended(pid_t child)
{
    int status = -1;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

SITE pid_t vfork_and_exit(void)
{
    pid_t child = vfork();
    if (child == 0) {
        borrowed_block();
        _exit(3);
    }
    return child;
}

SITE pid_t vfork_and_exec(void)
{
    pid_t child = vfork();
    if (child == 0) {
        execve("/proc/self/exe", child_argv, environ);
        _exit(9);
    }
    return child;
}

int main(int argc, char **argv)
{
    int wrong = 0;
    if (argc > 1 && !strcmp(argv[1], "child")) {
        spawned_blocks();
        return 3;
    }
    for (long rounds = number(argc, argv, 1, 20); rounds > 0; rounds--) {
        pid_t child;
        parent_block();
        wrong += ended(vfork_and_exit()) != 3;
        wrong += ended(vfork_and_exec()) != 3;
        wrong += posix_spawn(&child, "/proc/self/exe", NULL, NULL, child_argv, environ) || ended(child) != 3;
    }
    return wrong != 0;
}
