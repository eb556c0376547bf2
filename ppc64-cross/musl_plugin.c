/* With -DPLUGIN a library that keeps three blocks of 3,000 bytes; else a program that loads it, by its one argument,
 * five times, and twice what cannot be loaded. musl never unloads: it says 15 blocks. */
#include "../victims/victim.h"
#include <dlfcn.h>
#include <stdio.h>

#ifdef PLUGIN
SITE int plugin_run(void)
{
    for (int i = 0; i < 3; i++)
        keep(malloc(3000));
    return 3;
}
#else
int main(int argc, char **argv)
{
    int blocks = 0;
    for (int i = 0; i < 5 && argc > 1; i++) {
        void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        int (*run)(void) = plugin ? (int (*)(void))dlsym(plugin, "plugin_run") : NULL;
        blocks += run ? run() : 0;
        if (!plugin || dlclose(plugin) || (i < 2 && dlopen("/no/such.so", RTLD_NOW)))
            return 1;
        /* A name that musl has not, and the recorder takes out of itself. */
        if (dlsym(RTLD_DEFAULT, "cfree") || dlsym(RTLD_DEFAULT, "free_sized"))
            return 2;
    }
    return printf("%d blocks\n", blocks) > 0 ? 0 : 3;
}
#endif
