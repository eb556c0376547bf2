/* Threads with the smallest stacks that there are, 16 KiB with their thread's data: every entry of the allocator is called
 * there first. */
#include "../torture.h"
#include <limits.h>
#include <malloc.h>

static void *thread(void *unused)
{
    (void)unused;
    void *p = keep(malloc(10));
    p = keep(realloc(p, 5000));
    p = keep(realloc(p, 500000));
    free(p);
    free(keep(calloc(3, 1000)));
    free(keep(aligned_alloc(64, 640)));
    CHECK(posix_memalign(&p, 256, 100) == 0);
    free(p);
    free(keep(memalign(4096, 100)));
    free(keep(strdup("short")));
    churn(200);
    return NULL;
}

int main(void)
{
    pthread_attr_t attr;
    pthread_t ids[30];
    CHECK(pthread_attr_init(&attr) == 0);
    CHECK(pthread_attr_setstacksize(&attr, (size_t)sysconf(_SC_THREAD_STACK_MIN)) == 0);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 30; i++)
            CHECK(pthread_create(&ids[i], &attr, thread, NULL) == 0);
        for (int i = 0; i < 30; i++)
            join_thread(ids[i]);
    }
    say("small stacks do\n");
    return 0;
}
