/* An image that is started without arguments, not even its name, and without random addresses. */
#include "../torture.h"
#include <sys/personality.h>

extern char **environ;

int main(int argc, char **argv)
{
    churn(3000);
    if (argc < 2 && getenv("NO_ARGUMENTS")) {
        say("%d %s\n", argc, argv[0] ? argv[0] : "nothing");
        return 0;
    }
    CHECK(setenv("NO_ARGUMENTS", "1", 1) == 0);
    CHECK(personality(ADDR_NO_RANDOMIZE) != -1);
    char *none[] = {NULL};
    execve("/proc/self/exe", none, environ);
    skip("not without arguments: %s", strerror(errno));
}
