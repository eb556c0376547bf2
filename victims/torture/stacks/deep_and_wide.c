/* Ten thousand different places in the code that allocate, made by macros, each called with two different callers above it. */
#include "../torture.h"

#define ONE blocks[n] = keep(malloc(n % 500)); CHECK_ALL; n++;
#define CHECK_ALL if (!blocks[n]) _exit(98)
#define TEN ONE ONE ONE ONE ONE ONE ONE ONE ONE ONE
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define THOUSAND HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED

enum { SITES = 10000 };
static void *blocks[SITES];

SITE static size_t first_half(size_t n)
{
    THOUSAND THOUSAND THOUSAND THOUSAND THOUSAND
    return n;
}

SITE static size_t second_half(size_t n)
{
    THOUSAND THOUSAND THOUSAND THOUSAND THOUSAND
    return n;
}

SITE static void all(void)
{
    CHECK(second_half(first_half(0)) == SITES);
    for (int i = 0; i < SITES; i++)
        free(blocks[i]);
}

SITE static int above(int depth)
{
    if (depth)
        return above(depth - 1) + 1;
    all();
    return 0;
}

int main(void)
{
    all();
    CHECK(above(20) == 20);
    say("%d places\n", SITES);
    return 0;
}
