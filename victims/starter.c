/* Takes a block and starts the program that its arguments name, if any; ends as that did. */
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv)
{
    void *volatile block = malloc(1000);
    int status = 0;
    pid_t child;
    if (argc > 1 && (posix_spawn(&child, argv[1], NULL, NULL, argv + 1, environ) != 0 || waitpid(child, &status, 0) != child))
        return 99;
    free((void *)block);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}
