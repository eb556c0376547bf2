/* A C program with a plugin that stays while others come and go: `plugins_kept [rounds=20] [thread=0]`. Prints nothing.
 *
 * plugin_a.so and plugin_b.so lie beside the program and are opened RTLD_LOCAL. plugin_a makes a block, plugin_b is
 * loaded, run and unloaded, and plugin_a deletes its block. With a thread, that one runs plugin_a all the time. Where
 * the two bring allocators of their own, no block may go to another's. Exits 1 if a plugin does not load or run.
 */
#define _GNU_SOURCE
#include "victim.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char folder[4096];
static int (*run_a)(void);
static int over;

static void *open_plugin(char name)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/plugin_%c.so", folder, name);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *all_the_time(void *unused)
{
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE))
        if (run_a() != 1000)
            return &over;
    return unused;
}

int main(int argc, char **argv)
{
    ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
    void *a, *said = NULL;
    if (n <= 0)
        return 1;
    *strrchr(folder, '/') = 0;
    if (!(a = open_plugin('a')))
        return 1;
    void *(*make)(void) = (void *(*)(void))dlsym(a, "plugin_keep");
    void (*drop)(void *) = (void (*)(void *))dlsym(a, "plugin_drop");
    run_a = (int (*)(void))dlsym(a, "plugin_run");
    pthread_t thread;
    long with_thread = number(argc, argv, 2, 0);
    if (with_thread && pthread_create(&thread, NULL, all_the_time, NULL))
        return 1;
    for (long rounds = number(argc, argv, 1, 20); rounds > 0; rounds--) {
        void *kept = make(), *b = open_plugin('b');
        int (*run_b)(void) = b ? (int (*)(void))dlsym(b, "plugin_run") : NULL;
        if (!run_b || run_b() != 3000 || dlclose(b))
            return 1;
        drop(kept);
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    if (with_thread && (pthread_join(thread, &said) || said))
        return 1;
    return dlclose(a);
}
