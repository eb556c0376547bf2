/* Sixty threads with an arena each, dying with their blocks live; main and later threads, which inherit the arenas, free them. */
#include "../torture.h"

enum { THREADS = 60, BLOCKS = 50 };
static char *left[THREADS][BLOCKS];
static pthread_barrier_t all;

static void *fill(void *number)
{
    char **own = left[(intptr_t)number];
    pthread_barrier_wait(&all);
    for (size_t i = 0; i < BLOCKS; i++) {
        own[i] = keep(malloc(10 + i * i));
        CHECK(own[i]);
        memset(own[i], (int)(intptr_t)number, 10 + i * i);
    }
    return NULL;
}

static void *clear(void *number)
{
    char **own = left[(intptr_t)number];
    for (size_t i = 0; i < BLOCKS; i++) {
        CHECK(own[i][0] == (intptr_t)number && own[i][9 + i * i] == (intptr_t)number);
        free(own[i]);
    }
    return NULL;
}

int main(void)
{
    pthread_t ids[THREADS];
    pthread_barrier_init(&all, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++)
        ids[i] = start_thread(fill, (void *)i);
    for (int i = 0; i < THREADS; i++)
        join_thread(ids[i]);
    for (intptr_t i = 0; i < THREADS / 2; i++)
        ids[i] = start_thread(clear, (void *)(THREADS - 1 - i));
    for (intptr_t i = 0; i < THREADS / 2; i++) {
        clear((void *)i);
        join_thread(ids[i]);
    }
    say("%d arenas' blocks released\n", THREADS);
    return 0;
}
