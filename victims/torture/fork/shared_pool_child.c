/* Parent and children hand out blocks of one MAP_SHARED pool, at the same addresses, beside heaps that are each one's own. */
#include "../torture.h"
#include <sys/mman.h>

enum { CHILDREN = 6, EACH = 500, SIZE = CHILDREN * EACH * 64 };

struct pool {
    size_t used;
    char room[SIZE];
};

int main(void)
{
    struct pool *pool = mmap(NULL, sizeof *pool, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(pool != MAP_FAILED);
    pid_t children[CHILDREN];
    for (int c = 0; c < CHILDREN; c++) {
        children[c] = fork();
        CHECK(children[c] >= 0);
        if (!children[c]) {
            for (int i = 0; i < EACH; i++) {
                char *copy = keep(strdup("what is shared"));
                CHECK(copy);
                size_t at = __atomic_fetch_add(&pool->used, 64, __ATOMIC_RELAXED);
                memcpy(pool->room + at, copy, strlen(copy) + 1);
                free(copy);
            }
            CHECK(munmap(pool, sizeof *pool) == 0);
            churn(100);
            exit(0);
        }
    }
    for (int c = 0; c < CHILDREN; c++)
        CHECK(status_of(children[c]) == 0);
    CHECK(pool->used == SIZE);
    for (size_t at = 0; at < SIZE; at += 64)
        CHECK(!strcmp(pool->room + at, "what is shared"));
    CHECK(munmap(pool, sizeof *pool) == 0);
    say("%d blocks in the pool\n", CHILDREN * EACH);
    return 0;
}
