/* A mapping sits right behind the break, so malloc must live without it: its first heap is mmapped, and so are all others. */
#include "../torture.h"
#include <malloc.h>
#include <sys/mman.h>

int main(void)
{
    char *end = sbrk(0);
    CHECK(end != (void *)-1);
    char *page = (char *)(((uintptr_t)end + 4095) / 4096 * 4096);
    CHECK(mmap(page, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == page);
    void *held[400];
    for (size_t i = 0; i < 400; i++) {
        held[i] = keep(malloc(3000 + i));
        CHECK(held[i]);
        memset(held[i], 1, 3000 + i);
    }
    churn(3000);
    errno = 0;
    CHECK(sbrk(1 << 20) == (void *)-1 && errno == ENOMEM);
    for (int i = 0; i < 400; i++)
        free(held[i]);
    malloc_trim(0);
    CHECK(munmap(page, 4096) == 0);
    churn(1000);
    say("no break, no harm\n");
    return 0;
}
