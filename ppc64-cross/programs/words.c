/* What machine this is, as the program itself sees it; where most arguments are
 * on the stack, the calls that have so many must be served before it says so. */
#define _GNU_SOURCE
#include "seen.h"
#include <sys/mman.h>

enum { BYTES = 65536 };

int main(void)
{
    const uint16_t word = 0x0102;
    char *mapped = mmap(0, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED || mremap(mapped, BYTES, 2 * BYTES, MREMAP_MAYMOVE) == MAP_FAILED)
        return 1;
    say(*(const uint8_t *)&word == 1 ? "big" : "little", 8 * (long)sizeof(void *));
    return 0;
}
