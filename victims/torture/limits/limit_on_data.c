/* RLIMIT_DATA of 32 MiB: brk and private mappings fail beyond it, and within it the program must have nearly all of it. */
#include "../torture.h"
#include <sys/resource.h>

int main(void)
{
    const struct rlimit limit = {32 << 20, 32 << 20};
    void *first = NULL;
    CHECK(setrlimit(RLIMIT_DATA, &limit) == 0);
    for (int round = 0; round < 10; round++) {
        int count = 0;
        for (void **p; count < 1000 && (p = keep(malloc(100000))); count++) {
            *p = first;
            first = p;
        }
        CHECK(count > 200 && count < 400);
        errno = 0;
        CHECK(!keep(malloc(20 << 20)) && errno == ENOMEM);
        while (first) {
            void *next = *(void **)first;
            free(first);
            first = next;
        }
        churn(500);
    }
    say("within its limit\n");
    return 0;
}
