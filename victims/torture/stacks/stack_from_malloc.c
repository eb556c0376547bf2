/* Threads run on stacks that malloc gave; the block is freed after each and is the next one's stack, or data in between. */
#include "../torture.h"

enum { SIZE = 64 * 1024 };

static void *thread(void *block)
{
    churn(100);
    free(block);
    return keep(malloc(77));
}

int main(void)
{
    pthread_attr_t attr;
    CHECK(pthread_attr_init(&attr) == 0);
    for (int i = 0; i < 60; i++) {
        pthread_t id;
        void *stack = keep(aligned_alloc(4096, SIZE)), *result;
        memset(stack, 0x5a, SIZE);
        CHECK(pthread_attr_setstack(&attr, stack, SIZE) == 0);
        CHECK(pthread_create(&id, &attr, thread, keep(malloc(50))) == 0);
        CHECK(pthread_join(id, &result) == 0);
        free(stack);
        free(result);
        void *data = keep(malloc(SIZE));
        memset(data, i, SIZE);
        free(data);
    }
    say("stacks from the heap\n");
    return 0;
}
