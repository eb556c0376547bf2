/* A plugin that brings malloc and free, late and with RTLD_GLOBAL: the program's calls go on to the first malloc of the
 * process, the plugin's to its own, and a recorder that looks for the next malloc again must not take the plugin's.
 *
 * @flags -ldl
 */
#include "../loader.h"

int main(void)
{
    for (int i = 0; i < 20; i++) {
        void *handle = load("plug_own_malloc", RTLD_NOW | (i % 2 ? RTLD_GLOBAL : RTLD_LOCAL));
        int (*own)(int) = (int (*)(int))find(handle, "plug_own");
        CHECK(own(50) == 50);
        churn(100);
        void *small = load("plug_small", RTLD_NOW);
        void *(*alloc)(size_t) = (void *(*)(size_t))find(small, "plug_alloc");
        free(alloc(333));
        CHECK(dlclose(small) == 0 && dlclose(handle) == 0);
        churn(100);
    }
    say("its own\n");
    return 0;
}
