/* A timer whose handler jumps out of whatever it interrupts, allocations among them, 30 times; then so many pairs more in
 * peace. Prints how many pairs there were that were not jumped out of. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static sigjmp_buf out;

static void jump(int signal)
{
    (void)signal;
    siglongjmp(out, 1);
}

static void pair(size_t size)
{
    void *volatile block = calloc(1, size);
    free((void *)block);
}

int main(int argc, char **argv)
{
    long more = argc > 1 ? atol(argv[1]) : 100000;
    volatile long pairs = 0;
    signal(SIGALRM, jump);
    for (volatile int round = 0; round < 30; round++)
        if (!sigsetjmp(out, 1)) {
            ualarm(3000 + 7 * round, 0);
            for (;; pairs++)
                pair(64);
        }
    for (long i = 0; i < more; i++, pairs++)
        pair(50);
    printf("%ld\n", pairs);
    return 0;
}
