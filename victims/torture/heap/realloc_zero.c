/* realloc(p, 0) frees p and returns NULL, realloc(NULL, 0) is a block, reallocarray with a zero on either side frees too. */
#include "../torture.h"

int main(void)
{
    volatile size_t none = 0, some = 10;
    for (int i = 0; i < 10000; i++) {
        void *p = keep(malloc(100 + (size_t)i));
        CHECK(p && !keep(realloc(p, none)));
        p = keep(calloc(1, 100 + (size_t)i));
        CHECK(p && !keep(reallocarray(p, none, some)));
        p = keep(malloc(200000));
        CHECK(p && !keep(reallocarray(p, some, none)));
        p = keep(realloc(NULL, none));
        CHECK(p && !keep(realloc(p, none)));
        p = keep(reallocarray(NULL, none, none));
        CHECK(p);
        free(p);
    }
    say("nothing is left\n");
    return 0;
}
