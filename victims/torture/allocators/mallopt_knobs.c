/* Every knob of mallopt while blocks live: what was mmapped before and what is after differ, and both must be released. */
#include "../torture.h"
#include <malloc.h>

int main(void)
{
    static const int knobs[][2] = {
        {M_MMAP_THRESHOLD, 4096}, {M_MMAP_THRESHOLD, 32 << 20}, {M_MMAP_MAX, 0}, {M_MMAP_MAX, 65536}, {M_TOP_PAD, 0},
        {M_TOP_PAD, 1 << 20}, {M_TRIM_THRESHOLD, 0}, {M_TRIM_THRESHOLD, -1}, {M_PERTURB, 0x5a}, {M_PERTURB, 0},
        {M_ARENA_MAX, 1}, {M_ARENA_TEST, 1}, {M_MXFAST, 0}, {M_MXFAST, 160}, {M_CHECK_ACTION, 3}, {12345, 1},
    };
    enum { COUNT = sizeof knobs / sizeof *knobs };
    char *small[COUNT], *large[COUNT];
    for (int i = 0; i < COUNT; i++) {
        say("%d ", mallopt(knobs[i][0], knobs[i][1]));
        small[i] = keep(calloc(1, 300));
        large[i] = keep(malloc(200000));
        CHECK(small[i] && large[i] && small[i][299] == 0);
        if (knobs[i][0] == M_PERTURB && knobs[i][1])
            CHECK(large[i][100] == (char)~0x5a && large[i][199999] == (char)~0x5a);
        memset(large[i], i, 200000);
        churn(300);
    }
    for (int i = 0; i < COUNT; i++) {
        CHECK(large[i][0] == i && large[i][199999] == i);
        free(small[i]);
        free(large[i]);
    }
    say("\n");
    return 0;
}
