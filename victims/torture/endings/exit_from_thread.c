/* A thread calls exit, whose handlers, allocating, run there, while main waits for it and others allocate.
 *
 * @uncounted: the second recorder has no word for a call that never came to its end
 */
#include "../torture.h"

static pthread_key_t key;
static __thread void *own;

static void handler(void)
{
    churn(100);
    free(own);
    say("in a thread\n");
}

static void *busy(void *nothing)
{
    for (;;)
        churn(50);
    return nothing;
}

static void *ends(void *nothing)
{
    own = keep(malloc(100));
    CHECK(pthread_setspecific(key, keep(malloc(70))) == 0);
    churn(200);
    exit(23);
    return nothing;
}

int main(void)
{
    CHECK(pthread_key_create(&key, free) == 0 && atexit(handler) == 0);
    for (int i = 0; i < 3; i++)
        start_thread(busy, NULL);
    join_thread(start_thread(ends, NULL));
    CHECK(!"here");
}
