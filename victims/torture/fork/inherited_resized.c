/* A child releases and resizes what its parent's threads, now gone, had allocated: small, large, mapped and aligned. */
#include "../torture.h"
#include <malloc.h>

enum { KINDS = 4, EACH = 100 };
static void *blocks[KINDS][EACH];

static void *fill(void *nothing)
{
    for (int i = 0; i < EACH; i++) {
        blocks[0][i] = keep(malloc(24));
        blocks[1][i] = keep(calloc(3, 1000 + (size_t)i));
        blocks[2][i] = keep(i % 10 ? malloc(500) : malloc(1 << 20));
        blocks[3][i] = keep(memalign(256, 300));
    }
    return nothing;
}

static void clear(int seed)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < EACH; i++) {
            void *p = blocks[kind][i];
            if ((i + seed) % 3 == 0)
                p = keep(realloc(p, (size_t)(i + 1) * 40));
            CHECK(p);
            free(p);
        }
}

int main(void)
{
    join_thread(start_thread(fill, NULL));
    for (int i = 0; i < 6; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            clear(i);
            if (i % 2)
                _exit(i);
            fill(NULL);
            clear(i + 1);
            exit(i);
        }
        CHECK(status_of(child) == i);
    }
    clear(0);
    say("inherited blocks went\n");
    return 0;
}
