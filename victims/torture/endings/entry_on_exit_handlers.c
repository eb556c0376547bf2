/* Entry points in handlers of atexit and on_exit, which themselves register handlers that allocate, and free what main left. */
#include "entries.h"

static void *left[8];
static int rounds;

static void handler(void)
{
    for (int n = 0; n < ENTRIES; n++)
        enter(n);
    free(left[rounds]);
    if (++rounds < 8)
        CHECK(atexit(handler) == 0);
    else
        say("eight rounds\n");
}

static void with_status(int status, void *block)
{
    CHECK(status == 3 && *(int *)block == 42);
    free(block);
}

int main(void)
{
    for (int i = 0; i < 8; i++)
        left[i] = keep(malloc(100 + (size_t)i));
    int *block = keep(malloc(sizeof *block));
    *block = 42;
    CHECK(atexit(handler) == 0 && on_exit(with_status, block) == 0);
    exit(3);
}
