/* Threads run on mapped stacks at one place: unmapped after each, then mapped again in another size, in between unreadable. */
#include "../torture.h"
#include <sys/mman.h>

enum { MOST = 1 << 20, PROT = PROT_READ | PROT_WRITE, FLAGS = MAP_PRIVATE | MAP_ANONYMOUS };

static void *thread(void *unused)
{
    (void)unused;
    churn(300);
    return keep(malloc(10));
}

int main(void)
{
    pthread_attr_t attr;
    CHECK(pthread_attr_init(&attr) == 0);
    char *place = mmap(NULL, MOST, PROT_NONE, FLAGS, -1, 0);
    CHECK(place != MAP_FAILED);
    for (int i = 0; i < 50; i++) {
        pthread_t id;
        void *result;
        size_t size = (size_t)MOST >> i % 5;
        char *stack = mmap(place, size, PROT, FLAGS | MAP_FIXED, -1, 0);
        CHECK(stack == place);
        CHECK(pthread_attr_setstack(&attr, stack, size) == 0);
        CHECK(pthread_create(&id, &attr, thread, NULL) == 0);
        CHECK(pthread_join(id, &result) == 0);
        free(result);
        CHECK(mmap(place, MOST, PROT_NONE, FLAGS | MAP_FIXED, -1, 0) == place);
    }
    CHECK(munmap(place, MOST) == 0);
    say("one place, fifty stacks\n");
    return 0;
}
