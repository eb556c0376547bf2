/* Two libraries at one address, one after the other: what was learnt of the first one's code is wrong for the second.
 *
 * @flags -ldl
 */
#include "../loader.h"

int main(void)
{
    void *kept[200], *places[2] = {NULL, NULL};
    int repeated = 0;
    for (int i = 0; i < 200; i++) {
        void *handle = load(i % 2 ? "plug_large" : "plug_small", RTLD_NOW);
        void *alloc = find(handle, "plug_alloc");
        void (*run)(int) = (void (*)(int))find(handle, "plug_churn");
        kept[i] = ((void *(*)(size_t))alloc)(1000);
        run(20);
        repeated += i > 1 && alloc == places[i % 2];
        places[i % 2] = alloc;
        CHECK(dlclose(handle) == 0);
        CHECK(!dlopen(i % 2 ? "plug_large.so" : "plug_small.so", RTLD_NOW | RTLD_NOLOAD));
    }
    for (int i = 0; i < 200; i++)
        free(kept[i]);
    CHECK(repeated > 0);
    say("200 loads at the same places\n");
    return 0;
}
