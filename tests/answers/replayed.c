/* What a replay must show: `replayed arenas THREADS`, `replayed holes`, `replayed chains`,
 * `replayed align`, `replayed cross`, `replayed fork`, `replayed zero`, `replayed untouched`,
 * `replayed many THREADS`. Each says on stdout what it did where that is asked about. */
#include "../../victims/victim.h"
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20, BLOCKS = 8192 };
static pthread_barrier_t all_begin;
static atomic_int turn;

static void *filled(size_t size)
{
    return memset(keep(malloc(size)), 1, size);
}

/* Threads, one after the other but all alive: each takes 8 MiB and frees all but the last block,
 * which holds the rest of its arena. */
static void *arena_of_its_own(void *arg)
{
    static void *blocks[BLOCKS];
    void *volatile mine = filled(64);
    pthread_barrier_wait(&all_begin);
    while (turn != (intptr_t)arg)
        usleep(100);
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = filled(1000);
    for (int i = 0; i < BLOCKS - 1; i++)
        free(blocks[i]);
    turn++;
    pthread_barrier_wait(&all_begin);
    free(mine);
    return NULL;
}

static void arenas(long count)
{
    pthread_t threads[count];
    pthread_barrier_init(&all_begin, NULL, count);
    for (intptr_t i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, arena_of_its_own, (void *)i);
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* 24 MiB of which every second block goes, and 12 MiB that fit into no hole. */
static void holes(void)
{
    static void *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = filled(3000);
    for (int i = 0; i < BLOCKS; i += 2)
        free(blocks[i]);
    for (int i = 0; i < 2000; i++)
        filled(6000);
}

static void chains(void)
{
    for (int chain = 0; chain < 50; chain++) {
        char *block = NULL;
        for (size_t size = 10; size < 400000; size = size * 5 / 3) {
            block = keep(realloc(block, size));
            block[size - 1] = 1;
            filled(40);
        }
        if (chain % 2)
            free(block);
        else
            filled(100);
    }
}

static void align(void)
{
    for (size_t power = 3; power <= 21; power++) {
        void *one = NULL;
        if (posix_memalign(&one, (size_t)1 << power, 100 + power) == 0)
            keep(one);
        void *two = keep(aligned_alloc((size_t)1 << power, (size_t)1 << power));
        void *three = keep(memalign((size_t)1 << power, 7));
        if (power % 2)
            free(two);
        keep(three);
    }
    keep(valloc(5));
    keep(pvalloc(5));
}

static _Atomic(void *) handed[64];

static void *receiver(void *arg)
{
    for (long got = 0; got < 20000;) {
        void *block = atomic_exchange(&handed[got % 64], NULL);
        if (block) {
            free(block);
            got++;
        }
    }
    return arg;
}

static void cross(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, receiver, NULL);
    for (long i = 0; i < 20000;) {
        void *expected = NULL;
        void *block = filled(100 + i % 1000);
        while (!atomic_compare_exchange_weak(&handed[i % 64], &expected, block)) {
            expected = NULL;
            sched_yield();
        }
        i++;
    }
    pthread_join(thread, NULL);
}

/* The child frees half of what it inherits, and makes 30 blocks. */
static void forks(void)
{
    void *blocks[1000];
    for (int i = 0; i < 1000; i++)
        blocks[i] = filled(500);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 1000; i += 2)
            free(blocks[i]);
        for (int i = 0; i < 30; i++)
            filled(77);
        exit(0);
    }
    waitpid(child, NULL, 0);
}

static void zero(void)
{
    for (int i = 0; i < 100; i++) {
        void *block = keep(malloc(0));
        void *zeros = keep(calloc(0, 10));
        if (i % 2)
            free(block);
        keep(zeros);
        keep(realloc(keep(malloc(10)), 20));
    }
    free(NULL);
}

/* 2 GiB that nobody touches, and 4 GiB of zeros. */
static void untouched(void)
{
    filled(100);
    for (int i = 0; i < 4; i++)
        keep(malloc((size_t)1 << 29));
    for (int i = 0; i < 4; i++)
        keep(calloc(1024, MIB));
    filled(MIB);
}

static void *short_life(void *arg)
{
    free(filled(100));
    return keep(malloc((intptr_t)arg));
}

static void many(long count)
{
    for (intptr_t i = 0; i < count; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, short_life, (void *)(i % 100));
        pthread_join(thread, NULL);
    }
}

/* Pages that stay resident when they are free: memory stands level to the end. */
static void level(long count)
{
    char **pages = malloc(count * sizeof *pages);
    for (long i = 0; i < count; i++)
        memset(pages[i] = malloc(4096), 1, 4096);
    /* What comes last keeps the heap from shrinking. */
    char *volatile last = malloc(40000);
    memset(last, 1, 40000);
    for (long i = 0; i < count; i++)
        free(pages[i]);
    for (int i = 0; i < 2000; i++)
        free(malloc(100));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    long count = argc > 2 ? atol(argv[2]) : 16;
    if (strcmp(what, "arenas") == 0) arenas(count);
    else if (strcmp(what, "holes") == 0) holes();
    else if (strcmp(what, "chains") == 0) chains();
    else if (strcmp(what, "align") == 0) align();
    else if (strcmp(what, "cross") == 0) cross();
    else if (strcmp(what, "fork") == 0) forks();
    else if (strcmp(what, "zero") == 0) zero();
    else if (strcmp(what, "untouched") == 0) untouched();
    else if (strcmp(what, "level") == 0) level(count);
    else if (strcmp(what, "many") == 0) many(count);
    else return 2;
    return 0;
}
