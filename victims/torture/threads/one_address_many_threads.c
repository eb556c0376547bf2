/* With one arena and no cache of a thread's own, twelve threads get and release the very same few addresses in turn. */
#include "../torture.h"
#include <malloc.h>

enum { THREADS = 12 };

static void *work(void *own)
{
    for (int i = 0; i < 8000; i++) {
        intptr_t *p = keep(malloc(5000));
        CHECK(p);
        *p = (intptr_t)own;
        p = keep(realloc(p, 5000 + (size_t)(i % 4) * 1000));
        CHECK(p && *p == (intptr_t)own);
        free(p);
    }
    return NULL;
}

int main(void)
{
    CHECK(mallopt(M_ARENA_MAX, 1) == 1 && mallopt(M_MMAP_MAX, 0) == 1);
    pthread_t ids[THREADS];
    for (int i = 0; i < THREADS; i++)
        ids[i] = start_thread(work, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        join_thread(ids[i]);
    say("one arena for all\n");
    return 0;
}
