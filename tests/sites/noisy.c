/* Says what it does on stdout and stderr and ends with a status that depends on the number of the file it opens:
 * `noisy BLOCKS [wait]`. A recorder that leaves a file open, prints, or changes errno is seen from outside.
 *
 * It makes BLOCKS allocations and as many releases; with `wait`, half of them, then it says `half`, reads a byte
 * from stdin and goes on. Nothing else of it allocates.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(int fd, const char *text)
{
    if (write(fd, text, strlen(text)) < 0)
        errno = 0; /* closed, which is a test of its own */
}

static void *held[64];

static long churn(long from, long to)
{
    long changed = 0;
    for (long i = from; i < to; i++) {
        errno = 77;
        free(held[i % 64]);
        held[i % 64] = malloc(1 + i * 7919 % 1000);
        changed += errno != 77;
        memset(held[i % 64], 1, 1);
    }
    return changed;
}

int main(int argc, char **argv)
{
    char line[200], byte;
    long blocks = argc > 1 ? atol(argv[1]) : 1000, changed;
    say(2, "noisy: begins\n");
    changed = churn(0, blocks / 2);
    if (argc > 2 && !strcmp(argv[2], "wait")) {
        say(1, "half\n");
        if (read(0, &byte, 1) != 1)
            say(2, "noisy: nothing to read\n");
    }
    changed += churn(blocks / 2, blocks);
    for (int i = 0; i < 64; i++) {
        if (held[i])
            free(held[i]);
    }
    int fd = open("/dev/null", O_RDONLY);
    snprintf(line, sizeof line, "blocks=%ld changed=%ld fd=%d\n", blocks, changed, fd);
    say(1, line);
    say(2, "noisy: ends\n");
    return 40 + fd;
}
