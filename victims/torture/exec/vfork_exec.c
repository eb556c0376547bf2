/* A vforked child execs, or fails to, in its parent's memory and on its parent's stack; on the way it allocates there. */
#include "../torture.h"

static char *const again[] = {(char *)"vfork_exec", (char *)"child", NULL};

__attribute__((noinline)) static pid_t start(const char *path)
{
    pid_t child = vfork();
    if (!child) {
        free(keep(malloc(400)));
        execve(path, again, environ);
        free(keep(malloc(500)));
        _exit(errno == ENOENT ? 12 : 13);
    }
    return child;
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        churn(50);
        return 11;
    }
    for (int i = 0; i < 10; i++) {
        churn(20);
        CHECK(status_of(start("/proc/self/exe")) == 11);
        CHECK(status_of(start("/nowhere/to/be/found")) == 12);
    }
    say("vforked\n");
    return 0;
}
