/* Has no descriptor left for a while, in which it asks for COUNT blocks of 48 bytes; then it has, waits until
 * a log may have been tried again, and asks for COUNT of 80. */
#include "victim.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static void ask(long count, size_t size)
{
    for (long i = 0; i < count; i++)
        free(keep(malloc(size)));
}

int main(int argc, char **argv)
{
    long count = number(argc, argv, 1, 400000);
    struct rlimit limit, none = {0, 0};
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return 3;
    none.rlim_max = limit.rlim_max;
    ask(count, 48);
    if (setrlimit(RLIMIT_NOFILE, &none))
        return 3;
    ask(count, 48);
    if (setrlimit(RLIMIT_NOFILE, &limit))
        return 3;
    usleep(1300000);
    ask(count, 80);
    puts("done");
    return 0;
}
