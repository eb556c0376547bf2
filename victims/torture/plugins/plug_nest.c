/* A plugin that loads another in its constructor and closes it in its destructor.
 *
 * @plugin
 */
#include "../loader.h"

static void *inner, *block;

__attribute__((constructor)) static void begin(void)
{
    inner = load("plug_small", RTLD_NOW);
    block = ((void *(*)(size_t))find(inner, "plug_alloc"))(400);
}

__attribute__((destructor)) static void end(void)
{
    ((void (*)(void *))find(inner, "plug_release"))(block);
    CHECK(dlclose(inner) == 0);
    churn(20);
}
