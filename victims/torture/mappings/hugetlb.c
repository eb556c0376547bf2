/* Mappings of explicit huge pages: lengths are rounded to their size, unmapping half a page is refused.
 */
#include "../torture.h"
#include <sys/mman.h>

int main(void)
{
    enum { HUGE_SIZE = 2 << 20 };
    char *p = mmap(NULL, 2 * HUGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    if (p == MAP_FAILED)
        skip("huge pages: %s", strerror(errno));
    touch(p, 2 * HUGE_SIZE);
    CHECK(munmap(p, 4096) == -1 && errno == EINVAL);
    CHECK(munmap(p, HUGE_SIZE) == 0 && p[HUGE_SIZE] == 1);
    CHECK(munmap(p + HUGE_SIZE, HUGE_SIZE) == 0);
    say("huge\n");
    return 0;
}
