/* pthread_getattr_np tells each thread its own stack, main and mapped and given ones, and the local variables lie in it; the
 * sizes are what was asked for. */
#include "../torture.h"

enum { SIZE = 256 * 1024 };
static char given[SIZE] __attribute__((aligned(4096)));

static size_t check(void)
{
    pthread_attr_t attr;
    void *low;
    size_t size;
    char here;
    churn(100);
    CHECK(pthread_getattr_np(pthread_self(), &attr) == 0);
    CHECK(pthread_attr_getstack(&attr, &low, &size) == 0);
    CHECK((char *)low < &here && &here < (char *)low + size);
    CHECK(pthread_attr_destroy(&attr) == 0);
    churn(100);
    return size;
}

static void *thread(void *expected)
{
    CHECK(check() == (size_t)expected);
    return NULL;
}

static void run(pthread_attr_t *attr)
{
    pthread_t id;
    CHECK(pthread_create(&id, attr, thread, (void *)(size_t)SIZE) == 0);
    join_thread(id);
}

int main(void)
{
    pthread_attr_t attr;
    size_t before = check();
    CHECK(pthread_attr_init(&attr) == 0 && pthread_attr_setstacksize(&attr, SIZE) == 0);
    CHECK(pthread_attr_setguardsize(&attr, 0) == 0);
    for (int i = 0; i < 10; i++)
        run(&attr);
    CHECK(pthread_attr_setstack(&attr, given, SIZE) == 0);
    for (int i = 0; i < 10; i++)
        run(&attr);
    CHECK(check() == before);
    say("all told\n");
    return 0;
}
