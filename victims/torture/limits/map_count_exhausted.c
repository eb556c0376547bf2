/* The process has as many mappings as the kernel allows, so that no more can be had, by anybody; then they go, and all is well. */
#include "../torture.h"
#include <sys/mman.h>

int main(void)
{
    enum { PAGE = 4096, MOST = 300000 };
    char *p = mmap(NULL, (size_t)MOST * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(p != MAP_FAILED);
    churn(500);
    size_t at = 1;
    while (at < MOST && mprotect(p + at * PAGE, PAGE, PROT_READ) == 0)
        at += 2;
    if (at >= MOST)
        skip("more mappings than anybody needs are allowed");
    CHECK(errno == ENOMEM);
    for (int i = 0; i < 200; i++) {
        errno = 0;
        CHECK(mprotect(p + at * PAGE, PAGE, PROT_READ) == -1 && errno == ENOMEM);
        free(keep(malloc(1000)));
        churn(20);
    }
    CHECK(munmap(p, (size_t)MOST * PAGE) == 0);
    churn(500);
    say("full and empty again\n");
    return 0;
}
