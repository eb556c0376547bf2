/* RTLD_DEEPBIND: the plugin finds libc's malloc before any that is preloaded. A block that it makes and the program
 * releases is one that a recorder may never have seen, and must reach the allocator all the same.
 *
 * @flags -ldl
 * @uncounted: with the second recorder behind memlog, the plugin passes both by
 * @may lose: what they do not see made is released again and again
 */
#include "../loader.h"

int main(void)
{
    void *handle = load("plug_small", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    void *(*alloc)(size_t) = (void *(*)(size_t))find(handle, "plug_alloc");
    void (*run)(int) = (void (*)(int))find(handle, "plug_churn");
    for (int i = 0; i < 300; i++) {
        char *block = alloc(100 + (size_t)i);
        char *more = keep(realloc(block, 1000 + (size_t)i));
        CHECK(more && more[99] == 7);
        free(more);
        free(alloc(30));
        run(10);
        churn(10);
    }
    CHECK(dlclose(handle) == 0);
    say("bound deeply\n");
    return 0;
}
