/* Three thousand threads, one after the other, some with one event, some with none: what a recorder keeps for each is used
 * again or it grows without end. */
#include "../torture.h"
#include <sys/resource.h>

static void *thread(void *block)
{
    if (!block)
        return NULL;
    free(block);
    return keep(malloc(40));
}

int main(void)
{
    struct rusage before, after;
    for (int i = 0; i < 3000; i++) {
        void *result;
        if (i == 500)
            getrusage(RUSAGE_SELF, &before);
        CHECK(pthread_join(start_thread(thread, i % 3 ? keep(malloc(50)) : NULL), &result) == 0);
        free(result);
    }
    getrusage(RUSAGE_SELF, &after);
    CHECK(after.ru_maxrss - before.ru_maxrss < 20000);
    say("three thousand\n");
    return 0;
}
