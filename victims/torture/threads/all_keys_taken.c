/* The program takes every pthread key that is left: there must be as many as without a recorder, and their
 * destructors run in threads that allocate. */
#include "../torture.h"
#include <limits.h>

static pthread_key_t keys[PTHREAD_KEYS_MAX];
static int made, destroyed;

static void destroy(void *block)
{
    free(block);
    destroyed++;
}

static void *thread(void *unused)
{
    (void)unused;
    for (int i = 0; i < made; i++)
        CHECK(pthread_setspecific(keys[i], keep(malloc(24))) == 0);
    churn(100);
    return NULL;
}

int main(void)
{
    churn(10);
    while (made < PTHREAD_KEYS_MAX && pthread_key_create(&keys[made], destroy) == 0)
        made++;
    join_thread(start_thread(thread, NULL));
    CHECK(destroyed == made);
    say("%d keys\n", made);
    return 0;
}
