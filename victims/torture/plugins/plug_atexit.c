/* A plugin with exit handlers of its own, which run when it is closed: they allocate, free, and register another.
 *
 * @plugin
 */
#include "../torture.h"

static void *block;
static int *told;

static void last(void)
{
    churn(20);
    free(block);
    ++*told;
}

static void at_close(void)
{
    block = keep(realloc(block, 5000));
    churn(20);
    CHECK(atexit(last) == 0);
    ++*told;
}

void plug_begin(int *tell)
{
    told = tell;
    block = keep(malloc(100));
    CHECK(atexit(at_close) == 0);
}
