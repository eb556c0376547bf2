/* What a check looks for, by word: `planted WHAT NUMBER ...`, several times over.
 *   peak N    N KiB at once, freed again
 *   leak N    N bytes that are never freed
 *   calls N   N blocks of 8 bytes, one after the other
 *   known N   N bytes that are never freed and that a file of suppressions knows of
 *   fork N    a child leaks N bytes
 *   burst N   a child leaks 500 bytes and takes and frees N blocks
 *   exec ...  the rest is done by another image of the same program
 *   exit N    it ends with N
 *   kill N    it kills itself with signal N
 */
#include "../../victims/victim.h"
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

SITE static void planted_peak(size_t kib)
{
    char *block = touch(keep(malloc(kib << 10)), kib << 10);
    char *other = keep(malloc(kib << 10)); /* the highest */
    free(block);
    free(other);
}

SITE static void planted_leak(size_t bytes) { keep(malloc(bytes)); }

SITE static void known_leak(size_t bytes) { keep(malloc(bytes)); }

SITE static void planted_calls(long count)
{
    for (long i = 0; i < count; i++)
        free(keep(malloc(8)));
}

SITE static void planted_child(long bytes)
{
    if (fork() == 0) {
        planted_leak(bytes);
        exit(0);
    }
    wait(NULL);
}

static void planted_burst(long count)
{
    if (fork() == 0) {
        planted_leak(500);
        planted_calls(count);
        exit(0);
    }
    wait(NULL);
}

int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        long number = atol(argv[i + 1]);
        if (!strcmp(argv[i], "peak"))
            planted_peak(number);
        else if (!strcmp(argv[i], "leak"))
            planted_leak(number);
        else if (!strcmp(argv[i], "known"))
            known_leak(number);
        else if (!strcmp(argv[i], "calls"))
            planted_calls(number);
        else if (!strcmp(argv[i], "fork"))
            planted_child(number);
        else if (!strcmp(argv[i], "burst"))
            planted_burst(number);
        else if (!strcmp(argv[i], "exec"))
            execv(argv[0], (argv[i + 1] = argv[0], argv + i + 1));
        else if (!strcmp(argv[i], "exit"))
            return (int)number;
        else if (!strcmp(argv[i], "kill"))
            kill(getpid(), (int)number);
        else
            return 99;
    }
    return 0;
}
