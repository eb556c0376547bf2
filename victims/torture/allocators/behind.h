/* What a program does that runs on another allocator than libc's, preloaded behind what is preloaded already. */
#ifndef BEHIND_H
#define BEHIND_H

#include "../again.h"
#include <malloc.h>

static void *behind_thread(void *given)
{
    free(given);
    churn(1000);
    return keep(malloc(100));
}

static inline int behind(char **argv, const char *library)
{
    again_behind(argv, library);
    CHECK(strstr(getenv("LD_PRELOAD"), library));
    for (int i = 0; i < 10; i++) {
        pthread_t id = start_thread(behind_thread, keep(malloc(5000)));
        churn(300);
        void *made = NULL, *aligned = NULL;
        CHECK(pthread_join(id, &made) == 0 && malloc_usable_size(made) >= 100);
        free(made);
        CHECK(posix_memalign(&aligned, 4096, 10000) == 0 && (uintptr_t)aligned % 4096 == 0);
        void *big = touch(keep(malloc(2 << 20)), 2 << 20);
        big = keep(realloc(big, 5 << 20));
        CHECK(big);
        free(big);
        free(aligned);
    }
    void *handle = load("plug_cxx", RTLD_NOW);
    CHECK(((size_t(*)(int))find(handle, "cxx_work"))(50) == 50 * 51 / 2);
    CHECK(dlclose(handle) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        churn(200);
        exit(5);
    }
    CHECK(status_of(child) == 5);
    say("on %s\n", library);
    return 0;
}

#endif
