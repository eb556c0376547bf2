/* What programs share that run themselves once more with another environment. */
#ifndef AGAIN_H
#define AGAIN_H

#include "loader.h"

/* The first time: runs the program again with NAME=VALUE. The second time: nothing. */
static inline void again_with(char **argv, const char *name, const char *value)
{
    if (getenv("TORTURE_AGAIN"))
        return;
    CHECK(setenv("TORTURE_AGAIN", "1", 1) == 0 && setenv(name, value, 1) == 0);
    execv("/proc/self/exe", argv);
    CHECK(!"exec");
}

/* As above, with a library behind what is preloaded. */
static inline void again_behind(char **argv, const char *library)
{
    if (getenv("TORTURE_AGAIN"))
        return;
    /* One that is there may still not be loaded late, for want of static TLS. */
    if (!dlopen(library, RTLD_LAZY | RTLD_LOCAL) && strstr(dlerror(), "cannot open"))
        skip("no %s", library);
    const char *before = getenv("LD_PRELOAD");
    char list[4000];
    CHECK(snprintf(list, sizeof list, "%s %s", before ? before : "", library) < (int)sizeof list);
    again_with(argv, "LD_PRELOAD", list);
}

#endif
