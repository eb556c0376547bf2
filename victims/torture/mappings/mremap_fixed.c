/* mremap with MREMAP_FIXED puts a mapping over others, which it replaces unseen: a whole one, a part of one, and two halves.
 *
 * @uncounted: the second recorder notes MREMAP_FIXED, for which the log has no place
 */
#include "../torture.h"
#include <sys/mman.h>

enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE };

static char *map(size_t pages)
{
    char *p = mmap(NULL, pages * PAGE, RW, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
    CHECK(p != MAP_FAILED);
    p[0] = 1;
    return p;
}

int main(void)
{
    for (int round = 2; round < 100; round++) {
        char *place = map(20);
        for (int i = 0; i < 4; i++) {
            static const int at[] = {0, 5, 13, 3};
            char *p = map(8), *target = place + at[i] * PAGE;
            p[PAGE] = (char)round;
            CHECK(mremap(p, 8 * PAGE, 7 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, target) == target);
            CHECK(target[PAGE] == round);
        }
        CHECK(munmap(place, 20 * PAGE) == 0);
    }
    say("over each other\n");
    return 0;
}
