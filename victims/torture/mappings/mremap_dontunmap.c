/* mremap with MREMAP_DONTUNMAP moves the pages and leaves the old mapping in place, empty: it lives until it is unmapped.
 */
#include "../torture.h"
#include <sys/mman.h>

int main(void)
{
    enum { PAGE = 4096, PAGES = 50, RW = PROT_READ | PROT_WRITE };
    for (int round = 1; round < 100; round++) {
        char *old = mmap(NULL, PAGES * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(old != MAP_FAILED);
        memset(old, round, PAGES * PAGE);
        char *moved = mremap(old, PAGES * PAGE, PAGES * PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
        if (moved == MAP_FAILED)
            skip("MREMAP_DONTUNMAP: %s", strerror(errno));
        CHECK(moved != old && moved[PAGE] == round && old[PAGE] == 0);
        old[PAGE] = 1;
        free(keep(malloc(100)));
        CHECK(munmap(round % 2 ? moved : old, PAGES * PAGE) == 0);
        CHECK((round % 2 ? old : moved)[PAGE] == (round % 2 ? 1 : round));
        CHECK(munmap(round % 2 ? old : moved, PAGES * PAGE) == 0);
    }
    say("left and moved\n");
    return 0;
}
