/* The threads of C11: thrd_create, tss_create with destructors that allocate, call_once, mtx, thrd_exit. */
#include "../torture.h"
#include <threads.h>

static tss_t slot;
static once_flag once = ONCE_FLAG_INIT;
static mtx_t mutex;
static int destroyed;
static void *made_once;

static void destroy(void *block)
{
    churn(20);
    free(block);
    CHECK(mtx_lock(&mutex) == thrd_success);
    destroyed++;
    CHECK(mtx_unlock(&mutex) == thrd_success);
}

static void make(void)
{
    made_once = keep(malloc(500));
}

static int thread(void *number)
{
    call_once(&once, make);
    CHECK(tss_set(slot, keep(malloc(100))) == thrd_success);
    churn(100);
    thrd_exit((int)(intptr_t)number);
}

int main(void)
{
    thrd_t ids[10];
    CHECK(tss_create(&slot, destroy) == thrd_success && mtx_init(&mutex, mtx_plain) == thrd_success);
    for (int i = 0; i < 10; i++)
        CHECK(thrd_create(&ids[i], thread, (void *)(intptr_t)i) == thrd_success);
    for (int i = 0; i < 10; i++) {
        int result;
        CHECK(thrd_join(ids[i], &result) == thrd_success && result == i);
    }
    free(made_once);
    say("%d destroyed\n", destroyed);
    return 0;
}
