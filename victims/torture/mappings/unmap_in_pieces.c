/* Mappings are unmapped in the middle, at both ends, several at once, twice, and mapped over: what is left is still there. */
#include "../torture.h"
#include <sys/mman.h>

enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE, OWN = MAP_PRIVATE | MAP_ANONYMOUS };

static char *map(void *where, size_t pages, int flags)
{
    char *p = mmap(where, pages * PAGE, RW, OWN | flags, -1, 0);
    CHECK(p != MAP_FAILED);
    return p;
}

int main(void)
{
    for (int round = 0; round < 300; round++) {
        char *p = map(NULL, 16, 0);
        memset(p, round, 16 * PAGE);
        CHECK(munmap(p + 7 * PAGE, 2 * PAGE) == 0);
        CHECK(munmap(p + 7 * PAGE, 2 * PAGE) == 0);
        CHECK(munmap(p, PAGE) == 0 && munmap(p + 15 * PAGE, 1) == 0);
        CHECK(p[PAGE] == (char)round && p[6 * PAGE] == (char)round && p[14 * PAGE] == (char)round);
        CHECK(map(p + 7 * PAGE, 2, MAP_FIXED_NOREPLACE) == p + 7 * PAGE && p[8 * PAGE] == 0);
        CHECK(map(p + 5 * PAGE, 6, MAP_FIXED) == p + 5 * PAGE && p[10 * PAGE] == 0 && p[4 * PAGE] == (char)round);
        errno = 0;
        CHECK(mmap(p, 16 * PAGE, RW, OWN | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED && errno == EEXIST);
        CHECK(map(p + 2 * PAGE, 2, MAP_FIXED | MAP_POPULATE) == p + 2 * PAGE && p[3 * PAGE] == 0);
        for (int i = 0; i < 16; i += 3)
            CHECK(munmap(p + i * PAGE, PAGE) == 0);
        CHECK(munmap(p, 16 * PAGE) == 0);
    }
    say("in pieces\n");
    return 0;
}
