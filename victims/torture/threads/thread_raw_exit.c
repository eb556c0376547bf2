/* Threads that end by the bare system call: no destructor runs, nobody is told, and their numbers may come again. */
#include "../torture.h"
#include <sys/syscall.h>

static pthread_key_t key;
static void *left[8];

static void never(void *value)
{
    (void)value;
    CHECK(!"a destructor");
}

static void *vanish(void *place)
{
    CHECK(pthread_setspecific(key, place) == 0);
    churn(30);
    *(void **)place = keep(malloc(500));
    syscall(SYS_exit, 0);
    return NULL;
}

int main(void)
{
    CHECK(pthread_key_create(&key, never) == 0);
    for (int round = 0; round < 20; round++) {
        pthread_t threads[8];
        for (int i = 0; i < 8; i++)
            threads[i] = start_thread(vanish, &left[i]);
        for (int i = 0; i < 8; i++) {
            join_thread(threads[i]);
            free(left[i]);
        }
    }
    say("threads vanished\n");
    return 0;
}
