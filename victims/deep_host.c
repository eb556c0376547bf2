/* Loads deep_plugin twice in a way of its choice, and prints what that took: allocations and bytes.
 *
 *   deep_host deep|namespace|apart|threads PLUGIN
 *
 * deep: by RTLD_DEEPBIND; half of its blocks are freed here. apart: the same, and the plugin frees all of its own.
 * namespace: by dlmopen. threads: as deep, while others load and unload it and allocate. */
#define _GNU_SOURCE
#include "victim.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *mode, *path;
static atomic_bool is_over;

static void *load(void)
{
    void *handle = strcmp(mode, "namespace") ? dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND)
                                             : dlmopen(LM_ID_NEWLM, path, RTLD_LAZY | RTLD_LOCAL);
    if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(99);
    }
    return handle;
}

static void *storm(void *unused)
{
    for (int round = 0; round < 300 && !atomic_load(&is_over); round++) {
        void *handle = load();
        for (int i = 0; i < 20; i++)
            free(keep(malloc(100)));
        dlclose(handle);
    }
    return unused;
}

int main(int argc, char **argv)
{
    unsigned long long bytes = 0, calls = 0;
    pthread_t others[3];
    if (argc != 3)
        return 2;
    mode = argv[1], path = argv[2];
    int is_stormy = !strcmp(mode, "threads");
    for (int i = 0; is_stormy && i < 3; i++)
        pthread_create(&others[i], NULL, storm, NULL);
    for (int round = 0; round < 2; round++) {
        void *handle = load();
        unsigned long long (*take)(unsigned long long *) =
            (unsigned long long (*)(unsigned long long *))dlsym(handle, "plug_take");
        void *(*give)(void) = (void *(*)(void))dlsym(handle, "plug_give");
        void (*drop)(void) = (void (*)(void))dlsym(handle, "plug_drop");
        unsigned long long some = 0;
        unsigned long long sum = take(&some);
        /* Others may hold it loaded: then it goes on counting. */
        bytes = is_stormy && sum > bytes ? sum : bytes + sum;
        calls = is_stormy && some > calls ? some : calls + some;
        if (strcmp(mode, "namespace") && strcmp(mode, "apart"))
            for (int i = 0; i < 150; i++)
                free(give());
        drop();
        dlclose(handle);
    }
    atomic_store(&is_over, true);
    for (int i = 0; is_stormy && i < 3; i++)
        pthread_join(others[i], NULL);
    printf("%llu %llu\n", calls, bytes);
    return 0;
}
