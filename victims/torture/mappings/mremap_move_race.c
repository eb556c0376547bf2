/* Four threads move mappings by mremap, and each takes with its next mmap what another's move has just left: the order of the
 * two must be told right.
 */
#include "../torture.h"
#include <sys/mman.h>

enum { SIZE = 1 << 20, RW = PROT_READ | PROT_WRITE };

static void *work(void *nothing)
{
    for (int i = 0; i < 2000; i++) {
        char *p = mmap(NULL, SIZE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(p != MAP_FAILED);
        p[100] = (char)i;
        char *place = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(place != MAP_FAILED);
        char *moved = mremap(p, SIZE, 3 * SIZE, MREMAP_MAYMOVE);
        CHECK(moved != MAP_FAILED && moved[100] == (char)i);
        CHECK(munmap(place, SIZE) == 0 && munmap(moved, 3 * SIZE) == 0);
    }
    free(keep(malloc(100)));
    return nothing;
}

int main(void)
{
    pthread_t ids[4];
    for (int i = 0; i < 4; i++)
        ids[i] = start_thread(work, NULL);
    for (int i = 0; i < 4; i++)
        join_thread(ids[i]);
    say("moved in turn\n");
    return 0;
}
