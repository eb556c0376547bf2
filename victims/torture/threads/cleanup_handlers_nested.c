/* pthread_exit deep inside runs thirty nested cleanup handlers, each of which frees its frame's block and allocates; one of
 * them has cleanup handlers of its own. */
#include "../torture.h"

static int cleaned;

static void clean_up(void *block)
{
    free(block);
    churn(10);
    cleaned++;
}

static void clean_up_twice(void *block)
{
    pthread_cleanup_push(clean_up, keep(malloc(10)));
    pthread_cleanup_push(clean_up, block);
    churn(10);
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(1);
}

static void (*volatile leave)(void *) = pthread_exit;

__attribute__((noipa)) static void dive(int depth, void *result)
{
    if (!depth) {
        leave(result);
        return;
    }
    pthread_cleanup_push(depth == 15 ? clean_up_twice : clean_up, keep(malloc((size_t)depth)));
    dive(depth - 1, result);
    pthread_cleanup_pop(0);
}

static void *thread(void *unused)
{
    (void)unused;
    dive(30, keep(malloc(99)));
    return NULL;
}

int main(void)
{
    for (int i = 0; i < 10; i++) {
        void *result;
        CHECK(pthread_join(start_thread(thread, NULL), &result) == 0 && result);
        free(result);
    }
    CHECK(cleaned == 310);
    say("%d cleaned up\n", cleaned);
    return 0;
}
