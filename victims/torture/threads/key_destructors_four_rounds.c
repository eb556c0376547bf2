/* Destructors of pthread keys allocate, free and set their keys again, in all the rounds that there are: also after a
 * recorder's own destructor ran. What the last round sets is lost, natively as well. */
#include "../torture.h"

enum { KEYS = 20 };
static pthread_key_t keys[KEYS];
static int calls[KEYS];

static void destroy(void *block)
{
    int which = *(int *)block;
    free(block);
    churn(10);
    int *next = keep(malloc(64 + (size_t)which));
    *next = which;
    ++calls[which];
    CHECK(pthread_setspecific(keys[which], next) == 0);
}

static void *thread(void *unused)
{
    (void)unused;
    for (int i = 0; i < KEYS; i++) {
        int *block = keep(malloc(64));
        *block = i;
        CHECK(pthread_setspecific(keys[i], block) == 0);
    }
    return NULL;
}

int main(void)
{
    for (int i = 0; i < KEYS; i++)
        CHECK(pthread_key_create(&keys[i], destroy) == 0);
    for (int t = 0; t < 5; t++)
        join_thread(start_thread(thread, NULL));
    for (int i = 0; i < KEYS; i++)
        CHECK(calls[i] == 5 * 4);
    say("four rounds\n");
    return 0;
}
