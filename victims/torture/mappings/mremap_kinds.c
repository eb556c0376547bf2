/* mremap that shrinks, grows in place, moves, replaces another mapping, and doubles a shared one.
 *
 * @uncounted: the second recorder notes MREMAP_FIXED, for which the log has no place
 */
#include "../torture.h"
#include <sys/mman.h>

enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE };

static char *map(size_t pages, int flags)
{
    char *p = mmap(NULL, pages * PAGE, RW, MAP_ANONYMOUS | flags, -1, 0);
    CHECK(p != MAP_FAILED);
    return p;
}

int main(void)
{
    for (int round = 1; round < 100; round++) {
        char *p = map(8, MAP_PRIVATE);
        memset(p, round, 8 * PAGE);
        CHECK(mremap(p, 8 * PAGE, 4 * PAGE, 0) == p);
        CHECK(mremap(p, 4 * PAGE, 4 * PAGE, 0) == p);
        char *q = mremap(p, 4 * PAGE, 100 * PAGE, MREMAP_MAYMOVE);
        CHECK(q != MAP_FAILED && q[3 * PAGE] == round && q[4 * PAGE] == 0);
        char *place = map(100, MAP_PRIVATE);
        CHECK(mremap(q, 100 * PAGE, 50 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place);
        CHECK(place[0] == round && place[99 * PAGE] == 0);
        CHECK(munmap(place, 100 * PAGE) == 0);
        char *shared = map(2, MAP_SHARED), *twin = mremap(shared, 0, 2 * PAGE, MREMAP_MAYMOVE);
        CHECK(twin != MAP_FAILED && twin != shared);
        shared[PAGE] = (char)round;
        CHECK(twin[PAGE] == round);
        CHECK(munmap(shared, 2 * PAGE) == 0 && twin[PAGE] == round && munmap(twin, 2 * PAGE) == 0);
    }
    say("moved about\n");
    return 0;
}
