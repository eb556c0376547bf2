/* Half a megabyte of thread-local data at the top of each thread's stack, aligned to a page, so that little of the stack asked for
 * is left, and errno and a recorder's words lie far from the rest. */
#include "../torture.h"

static __thread char large[512 * 1024] __attribute__((aligned(4096)));
static __thread char *last;

static void *thread(void *number)
{
    last = large;
    for (size_t i = 0; i < sizeof large; i += 4096) {
        large[i] = (char)(intptr_t)number;
        free(keep(malloc(i + 1)));
    }
    churn(100);
    for (size_t i = 0; i < sizeof large; i++)
        CHECK(large[i] == (i % 4096 ? 0 : (char)(intptr_t)number));
    CHECK(last == large && (uintptr_t)large % 4096 == 0);
    return NULL;
}

int main(void)
{
    pthread_attr_t attr;
    CHECK(pthread_attr_init(&attr) == 0 && pthread_attr_setstacksize(&attr, sizeof large + 48 * 1024) == 0);
    for (int round = 0; round < 5; round++) {
        pthread_t ids[6];
        for (int i = 0; i < 6; i++)
            CHECK(pthread_create(&ids[i], &attr, thread, (void *)(intptr_t)(i + 1)) == 0);
        for (int i = 0; i < 6; i++)
            join_thread(ids[i]);
    }
    thread((void *)7);
    say("all of it its own\n");
    return 0;
}
