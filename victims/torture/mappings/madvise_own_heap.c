/* The program advises on, locks and protects pages inside blocks of malloc's; their neighbours and later blocks are as ever. */
#include "../torture.h"
#include <malloc.h>
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 32 };

int main(void)
{
    for (int round = 0; round < 20; round++) {
        CHECK(mallopt(M_MMAP_THRESHOLD, round % 2 ? 32 << 20 : 65536) == 1);
        char *p = keep(aligned_alloc(PAGE, PAGES * PAGE)), *after = keep(malloc(100));
        CHECK(p && after);
        memset(p, 7, PAGES * PAGE);
        memset(after, 8, 100);
        CHECK(madvise(p + PAGE, 4 * PAGE, MADV_DONTNEED) == 0 && p[PAGE] == 0 && p[0] == 7 && p[5 * PAGE] == 7);
        CHECK(madvise(p + 8 * PAGE, 4 * PAGE, MADV_FREE) == 0 && p[12 * PAGE] == 7);
        CHECK(madvise(p, PAGES * PAGE, MADV_HUGEPAGE) == 0 || errno == EINVAL);
        CHECK(madvise(p, PAGES * PAGE, MADV_SEQUENTIAL) == 0);
        CHECK(madvise(p + 1, PAGE, MADV_DONTNEED) == -1 && errno == EINVAL);
        CHECK(mprotect(p + 2 * PAGE, PAGE, PROT_NONE) == 0);
        churn(200);
        CHECK(mprotect(p + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE) == 0);
        CHECK(mprotect(p + 3 * PAGE, PAGE, PROT_READ) == 0);
        churn(200);
        CHECK(mprotect(p + 3 * PAGE, PAGE, PROT_READ | PROT_WRITE) == 0);
        CHECK(mlock(p, 4 * PAGE) == 0 || errno == EPERM || errno == ENOMEM);
        CHECK(munlock(p, 4 * PAGE) == 0 || errno == EPERM || errno == ENOMEM);
        p = keep(realloc(p, 2 * PAGES * PAGE));
        CHECK(p && p[0] == 7 && p[6 * PAGE] == 7 && after[99] == 8);
        free(p);
        free(after);
    }
    say("advice taken\n");
    return 0;
}
