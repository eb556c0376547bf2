/* A plugin that allocates in constructors of several priorities and frees in destructors, the last block in the last one.
 *
 * @plugin
 */
#include "../torture.h"

static void *blocks[3];
static int order;

__attribute__((constructor(201))) static void first(void)
{
    CHECK(order++ == 0);
    blocks[0] = keep(malloc(1000));
}

__attribute__((constructor(202))) static void second(void)
{
    CHECK(order++ == 1);
    blocks[1] = keep(calloc(10, 100));
    churn(50);
}

__attribute__((constructor)) static void third(void)
{
    CHECK(order++ == 2);
    blocks[2] = keep(realloc(blocks[0], 5000));
    blocks[0] = keep(malloc(3));
}

__attribute__((destructor)) static void end_third(void)
{
    CHECK(order-- == 3);
    free(blocks[2]);
}

__attribute__((destructor(202))) static void end_second(void)
{
    CHECK(order-- == 2);
    churn(50);
    free(blocks[1]);
}

__attribute__((destructor(201))) static void end_first(void)
{
    CHECK(order-- == 1);
    free(blocks[0]);
}
