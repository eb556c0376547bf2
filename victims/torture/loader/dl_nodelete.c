/* RTLD_NODELETE: dlclose runs no destructor and unmaps nothing, and the plugin's code goes on allocating.
 *
 * @flags -ldl
 */
#include "../loader.h"

int main(void)
{
    void *handle = load("plug_small", RTLD_NOW | RTLD_NODELETE);
    void *(*alloc)(size_t) = (void *(*)(size_t))find(handle, "plug_alloc");
    void (*release)(void *) = (void (*)(void *))find(handle, "plug_release");
    for (int i = 0; i < 20; i++) {
        CHECK(dlclose(handle) == 0);
        void *block = alloc(500);
        churn(50);
        release(block);
        handle = load("plug_small", RTLD_NOW);
        CHECK(find(handle, "plug_alloc") == (void *)alloc);
    }
    CHECK(dlclose(handle) == 0);
    release(alloc(10));
    say("it stayed\n");
    return 0;
}
