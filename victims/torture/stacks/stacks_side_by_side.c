/* Two threads' stacks lie directly beside each other in static memory: who looks for the end of one walks into the other,
 * which changes. */
#include "../torture.h"

enum { SIZE = 128 * 1024, EACH = 4 };
static char stacks[EACH][SIZE] __attribute__((aligned(4096)));

__attribute__((noipa)) static void *dive(int depth)
{
    if (!depth)
        return keep(malloc(60));
    void *p = dive(depth - 1);
    free(keep(malloc((size_t)depth)));
    return p;
}

static void *thread(void *unused)
{
    (void)unused;
    for (int i = 0; i < 500; i++)
        free(dive(i % 60));
    return NULL;
}

int main(void)
{
    pthread_attr_t attr;
    pthread_t ids[EACH];
    CHECK(pthread_attr_init(&attr) == 0);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < EACH; i++) {
            CHECK(pthread_attr_setstack(&attr, stacks[i], SIZE) == 0);
            CHECK(pthread_create(&ids[i], &attr, thread, NULL) == 0);
        }
        for (int i = 0; i < EACH; i++)
            join_thread(ids[i]);
    }
    say("neighbours\n");
    return 0;
}
