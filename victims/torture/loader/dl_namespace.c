/* dlmopen: a plugin in a namespace of its own, with a second libc whose allocator no preloaded library sees. Its blocks
 * stay on its side; modules of both namespaces come and go.
 *
 * @flags -ldl
 */
#include "../loader.h"

int main(void)
{
    char path[2000];
    plugin_path(path, sizeof path, "plug_small");
    for (int i = 0; i < 8; i++) {
        void *handle = dlmopen(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL);
        CHECK(handle);
        void *(*alloc)(size_t) = (void *(*)(size_t))find(handle, "plug_alloc");
        void (*release)(void *) = (void (*)(void *))find(handle, "plug_release");
        void (*run)(int) = (void (*)(int))find(handle, "plug_churn");
        void *block = alloc(3000), *big = alloc(300000);
        run(200);
        churn(200);
        release(block);
        release(big);
        CHECK(dlclose(handle) == 0);
    }
    say("eight namespaces\n");
    return 0;
}
