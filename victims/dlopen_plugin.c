/* A C program that loads and unloads two C++ plugins in turn: `dlopen_plugin [rounds=20]`. Prints nothing.
 *
 * plugin_a.so and plugin_b.so lie beside the program and are opened RTLD_LOCAL: the only C++ in the process is theirs, so
 * a recorder that exports operator new takes it from under them. Each is unloaded before the other is loaded, usually
 * to the same address. a_block makes 10 blocks of 1,000 bytes a run, b_block 10 of 3,000, by new and delete.
 * c_block keeps one block of 250 bytes a round. Exits 1 if a plugin does not load, run or unload.
 */
#define _GNU_SOURCE
#include "victim.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

SITE void c_block(void)
{
    touch(keep(malloc(250)), 250);
}

/* What plugin_run said, -1 if anything failed. */
SITE int run_plugin(const char *path)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int (*run)(void) = plugin ? (int (*)(void))dlsym(plugin, "plugin_run") : NULL;
    int said = run ? run() : -1;
    if (!plugin || dlclose(plugin) || dlopen(path, RTLD_NOW | RTLD_NOLOAD))
        return -1;
    return said;
}

int main(int argc, char **argv)
{
    char a[4096], b[4096];
    ssize_t n = readlink("/proc/self/exe", a, sizeof a - 20);
    if (n <= 0)
        return 1;
    a[n] = 0;
    strcpy(strrchr(a, '/') + 1, "plugin_a.so");
    strcpy(b, a);
    strcpy(strrchr(b, '/') + 1, "plugin_b.so");
    for (long rounds = number(argc, argv, 1, 20); rounds > 0; rounds--) {
        c_block();
        if (run_plugin(a) != 1000 || run_plugin(b) != 3000)
            return 1;
    }
    return 0;
}
