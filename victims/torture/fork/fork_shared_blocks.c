/* The same blocks are freed after fork by child, grandchild and parent, each its own copy, in different orders and by realloc. */
#include "../torture.h"

enum { BLOCKS = 200 };
static char *blocks[BLOCKS];

static void release(int generation)
{
    for (int i = 0; i < BLOCKS; i++) {
        char *p = blocks[generation % 2 ? BLOCKS - 1 - i : i];
        CHECK(p[0] == 5);
        if (i % (generation + 2) == 0) {
            p = keep(realloc(p, 3000));
            CHECK(p && p[0] == 5);
        }
        free(p);
    }
}

static void generation(int n)
{
    if (n < 3) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            void *more = keep(malloc(100));
            generation(n + 1);
            free(more);
            exit(n);
        }
        release(n);
        CHECK(status_of(child) == n);
    } else {
        release(n);
    }
}

int main(void)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = keep(malloc(1 + i * 40));
        CHECK(blocks[i]);
        blocks[i][0] = 5;
    }
    generation(0);
    say("each freed its own\n");
    return 0;
}
