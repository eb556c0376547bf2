/* Call stacks of a thousand and more frames, allocated at on the way down, at the bottom, and released on the way up. */
#include "../torture.h"

SITE static int down(int depth, int step)
{
    void *p = depth % step ? NULL : keep(malloc((size_t)depth + 1));
    CHECK(p || depth % step);
    int below = 0;
    if (depth > 0) {
        below = down(depth - 1, step);
    } else {
        for (int i = 0; i < 100; i++)
            free(keep(malloc((size_t)i)));
    }
    free(p);
    return below + 1;
}

int main(void)
{
    CHECK(down(1000, 1) == 1001);
    for (int i = 0; i < 5; i++)
        CHECK(down(1000 + i, 10) == 1001 + i);
    CHECK(down(20000, 1000) == 20001);
    say("up again\n");
    return 0;
}
