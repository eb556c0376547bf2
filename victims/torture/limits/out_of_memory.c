/* The limit on address space is set to what is used already: malloc fails for large and small, and recovers when it is lifted.
 * @may begin late: what a thread's first event needs is not to be had then
 */
#include "../torture.h"
#include <sys/mman.h>
#include <sys/resource.h>

int main(void)
{
    struct rlimit before, none;
    CHECK(getrlimit(RLIMIT_AS, &before) == 0);
    void *kept = keep(malloc(100));
    none = before;
    none.rlim_cur = 0;
    for (int round = 0; round < 20; round++) {
        CHECK(setrlimit(RLIMIT_AS, &none) == 0);
        for (int i = 0; i < 20; i++) {
            errno = 0;
            CHECK(!keep(malloc(64 << 20)) && errno == ENOMEM);
            errno = 0;
            CHECK(!keep(calloc(64, 1 << 20)) && errno == ENOMEM);
            errno = 0;
            CHECK(!keep(realloc(keep(kept), 64 << 20)) && errno == ENOMEM);
            errno = 0;
            CHECK(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == ENOMEM);
            errno = 0;
            CHECK(sbrk(1 << 20) == (void *)-1 && errno == ENOMEM);
        }
        void *first = NULL;
        for (int i = 0; i < 100000; i++) {
            void **p = keep(malloc(1000));
            if (!p)
                break;
            *p = first;
            first = p;
        }
        errno = 0;
        CHECK(!keep(malloc(100000)) && errno == ENOMEM);
        while (first) {
            void *next = *(void **)first;
            free(first);
            first = next;
        }
        CHECK(setrlimit(RLIMIT_AS, &before) == 0);
        churn(300);
    }
    free(kept);
    say("recovered\n");
    return 0;
}
