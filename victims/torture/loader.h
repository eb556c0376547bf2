/* What programs with plugins share. Plugins are built beside the programs, in the folder $TORTURE. */
#ifndef LOADER_H
#define LOADER_H

#include "torture.h"
#include <dlfcn.h>

/* Where a plugin is. */
static inline void plugin_path(char *path, size_t size, const char *name)
{
    const char *folder = getenv("TORTURE");
    if (!folder)
        skip("TORTURE is not set");
    CHECK(snprintf(path, size, "%s/%s.so", folder, name) < (int)size);
}

static inline void *load(const char *name, int flags)
{
    char path[2000];
    plugin_path(path, sizeof path, name);
    void *handle = dlopen(path, flags);
    if (!handle)
        say("%s\n", dlerror());
    CHECK(handle);
    return handle;
}

static inline void *find(void *handle, const char *name)
{
    void *symbol = dlsym(handle, name);
    CHECK(symbol);
    return symbol;
}

#endif
