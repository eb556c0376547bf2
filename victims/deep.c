/* Allocation at the bottom of a deep stack: `deep [depth=1000]`. Prints nothing, exits 0.
 *
 * main calls descend, which calls itself until `depth` frames of descend are on the stack; the last one calls
 * bottom 10 times. So each stack reads bottom, descend x depth, main. @total allocations=10 releases=0
 */
#include "victim.h"

SITE void *bottom(void)
{
    void *p = malloc(2000); // @site bottom peak=20000/10 end=20000/10
    return touch(keep(p), 2000);
}

SITE int descend(long depth)
{
    volatile char frame[32] = {1}; /* every call a frame, none a jump */
    if (depth > 1)
        return descend(depth - 1) + frame[0];
    for (int i = 0; i < 10; i++)
        bottom();
    return frame[0];
}

int main(int argc, char **argv)
{
    long depth = number(argc, argv, 1, 1000);
    return descend(depth) != depth;
}
