/* Mappings at the last page of the user's half, at the lowest there may be, and pointers with tags in their upper bits that
 * are kept beside the heap but never freed.
 */
#include "../torture.h"
#include <sys/mman.h>

enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE, OWN = MAP_PRIVATE | MAP_ANONYMOUS };

int main(void)
{
    char *last = MAP_FAILED;
    for (uintptr_t at = 0x7ffffffff000 - PAGE; last == MAP_FAILED && at > 0x7fffff000000; at -= PAGE)
        last = mmap((void *)at, PAGE, RW, OWN | MAP_FIXED_NOREPLACE, -1, 0);
    CHECK(last != MAP_FAILED);
    char *lowest = mmap((void *)65536, PAGE, RW, OWN | MAP_FIXED_NOREPLACE, -1, 0);
    CHECK(lowest != MAP_FAILED || errno == EPERM);
    last[0] = last[PAGE - 1] = 3;
    void **links = keep(malloc(1000 * sizeof *links));
    CHECK(links);
    for (uintptr_t i = 0; i < 1000; i++) {
        void *p = keep(malloc(50));
        CHECK(p);
        links[i] = (void *)((uintptr_t)p | (i % 0x7fff + 1) << 48);
    }
    errno = 0;
    CHECK(mmap((void *)0x7ffffffff000, PAGE, RW, OWN | MAP_FIXED, -1, 0) == MAP_FAILED && errno == ENOMEM);
    CHECK(munmap((void *)((uintptr_t)last | (uintptr_t)1 << 60), PAGE) == -1 && errno == EINVAL);
    for (uintptr_t i = 0; i < 1000; i++)
        free((void *)((uintptr_t)links[i] & 0xffffffffffff));
    free(links);
    CHECK(last[0] == 3 && munmap(last, PAGE) == 0);
    if (lowest != MAP_FAILED)
        CHECK(munmap(lowest, PAGE) == 0);
    say("high and low\n");
    return 0;
}
