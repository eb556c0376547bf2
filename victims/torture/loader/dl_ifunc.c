/* Resolvers of ifuncs: one of the program, which runs before anything is relocated, and one of a plugin, which allocates
 * inside dlsym.
 *
 * @flags -ldl
 */
#include "../loader.h"

static void *plain(size_t size)
{
    return keep(malloc(size));
}

static void *(*choose(void))(size_t)
{
    return plain;
}

__attribute__((ifunc("choose"))) static void *chosen(size_t size);

int main(void)
{
    for (int i = 0; i < 100; i++) {
        void *handle = load("plug_ifunc", i % 2 ? RTLD_NOW : RTLD_LAZY);
        int (*function)(int) = (int (*)(int))find(handle, "plug_chosen");
        CHECK(function(10) == 11);
        free(chosen(333));
        CHECK(dlclose(handle) == 0);
    }
    say("chosen\n");
    return 0;
}
