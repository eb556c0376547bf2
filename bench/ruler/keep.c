/* Blocks that stay: `keep BLOCKS` allocates so many of 16 to 415 bytes, frees every third of them again and ends.
 * What reading takes for each live block is seen by two such logs of different length. */
#include <stdint.h>
#include <stdlib.h>

int main(int count, char **words)
{
    long blocks = count > 1 ? atol(words[1]) : 0;
    uint64_t random = 88172645463325252u;
    for (long i = 0; i < blocks; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        char *volatile block = malloc(16 + random % 400);
        if (i % 3 == 0)
            free(block);
    }
    return 0;
}
