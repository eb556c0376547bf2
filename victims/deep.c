/* Allocation at the bottom of a deep stack: `deep [depth=1000] [each=0]`. Prints nothing, exits 0.
 *
 * main calls descend, which calls itself until `depth` frames of descend are on the stack; the last one calls
 * bottom 10 times. So each stack reads bottom, descend x depth, main. @total allocations=10 releases=0
 * With a second argument each descend makes a block of 100 bytes, by level or with 2 itself, for as many stacks.
 */
#include "victim.h"

SITE void *bottom(void)
{
    void *p = malloc(2000); // @site bottom peak=20000/10 end=20000/10
    return touch(keep(p), 2000);
}

SITE void level(void)
{
    keep(malloc(100));
}

SITE int descend(long depth, long each)
{
    volatile char frame[32] = {1}; /* every call a frame, none a jump */
    if (each)
        each > 1 ? (void)keep(malloc(100)) : level();
    if (depth > 1)
        return descend(depth - 1, each) + frame[0];
    for (int i = 0; i < 10; i++)
        bottom();
    return frame[0];
}

int main(int argc, char **argv)
{
    long depth = number(argc, argv, 1, 1000);
    return descend(depth, number(argc, argv, 2, 0)) != depth;
}
