/* Recording goes on and off. `switches windows N`: threads stand still while it does, so many times; of each window
 * `window NUMBER BYTES BLOCKS`, what was allocated in it and is there when it ends: it ends with the mark `end NUMBER`.
 *
 * `switches race MS`: one thread switches all the time while others allocate and free, fork and load libraries.
 *
 * `switches inherit 1`: what was there before a pause, blocks and a mapping, and what came after it; a child frees both.
 *
 * `switches serve MS`: allocates and frees a little every millisecond, as a server does, for so long, or with 0 until
 * its standard input ends. With `fork` behind it a child does that, which is forked at once. */
#define _GNU_SOURCE
#include "../include/memlog.h"
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The compiler leaves out what it sees nobody use. */
static void *kept(void *block) {
    __asm__ volatile("" : "+r"(block) : : "memory");
    return block;
}

enum { WORKERS = 3, HELD = 64 };
static pthread_barrier_t stand, go;
static volatile int is_on = 1, is_over;
static _Atomic long bytes, blocks;

struct held {
    void *block;
    size_t size;
    int is_new; /* of the window that there is */
};

__attribute__((noinline)) static void *hold(size_t size) { return kept(malloc(size)); }

static void turn(struct held *one, unsigned random) {
    if (one->block && one->is_new) {
        bytes -= (long)one->size;
        blocks--;
    }
    free(one->block);
    one->block = NULL;
    if (random % 3 == 0)
        return;
    one->size = 1 + (random >> 4) % 20000;
    one->block = hold(one->size);
    one->is_new = is_on;
    if (is_on) {
        bytes += (long)one->size;
        blocks++;
    }
}

static void *work(void *number) {
    struct held held[HELD] = {{0}};
    unsigned random = 12345 + 777 * (unsigned)(long)number;
    while (!is_over) {
        for (int step = 0; step < 200; step++) {
            random = random * 1103515245 + 12345;
            turn(&held[(random >> 16) % HELD], random >> 8);
        }
        pthread_barrier_wait(&stand);
        pthread_barrier_wait(&go);
        /* What was live before is not followed any more when it is on again. */
        if (is_on == 2)
            for (int index = 0; index < HELD; index++)
                held[index].is_new = 0;
        pthread_barrier_wait(&stand);
        pthread_barrier_wait(&go);
    }
    for (int index = 0; index < HELD; index++)
        free(held[index].block);
    return NULL;
}

static void windows(long count) {
    pthread_t threads[WORKERS];
    pthread_barrier_init(&stand, NULL, WORKERS + 1);
    pthread_barrier_init(&go, NULL, WORKERS + 1);
    for (long number = 0; number < WORKERS; number++)
        pthread_create(&threads[number], NULL, work, (void *)number);
    for (long window = 0; window < 2 * count; window++) {
        pthread_barrier_wait(&stand);
        if (is_on) {
            char name[32];
            snprintf(name, sizeof name, "end %ld", window / 2);
            memlog_mark(name);
            memlog_stop();
            printf("window %ld %ld %ld\n", window / 2, (long)bytes, (long)blocks);
            is_on = 0;
        } else {
            memlog_start();
            bytes = blocks = 0;
            is_on = 2;
        }
        is_over = window == 2 * count - 1;
        pthread_barrier_wait(&go);
        pthread_barrier_wait(&stand);
        if (is_on)
            is_on = 1;
        pthread_barrier_wait(&go);
    }
    for (int number = 0; number < WORKERS; number++)
        pthread_join(threads[number], NULL);
}

static void *allocate(void *number) {
    void *block[HELD] = {0};
    unsigned random = 99 + 777 * (unsigned)(long)number;
    while (!is_over) {
        random = random * 1103515245 + 12345;
        int at = (random >> 16) % HELD;
        if (random & 0x100 && block[at]) {
            block[at] = kept(realloc(block[at], 1 + (random >> 8) % 3000));
        } else {
            free(block[at]);
            block[at] = hold(1 + (random >> 8) % 3000);
        }
    }
    for (int index = 0; index < HELD; index++)
        free(block[index]);
    return NULL;
}

static void *load(void *unused) {
    (void)unused;
    while (!is_over) {
        void *library = dlopen("libm.so.6", RTLD_NOW);
        pid_t child = fork();
        if (child == 0) {
            free(hold(100));
            _exit(0);
        }
        waitpid(child, NULL, 0);
        if (library)
            dlclose(library);
    }
    return NULL;
}

static void race(long duration) {
    pthread_t threads[WORKERS + 1];
    for (long number = 0; number < WORKERS; number++)
        pthread_create(&threads[number], NULL, allocate, (void *)number);
    pthread_create(&threads[WORKERS], NULL, load, NULL);
    long end = milliseconds() + duration, count = 0;
    for (unsigned random = 7; milliseconds() < end; count++) {
        random = random * 1103515245 + 12345;
        memlog_stop();
        for (unsigned step = random >> 20; step; step--)
            free(hold(1 + step % 100));
        memlog_start();
        for (unsigned step = random >> 22; step; step--)
            free(hold(1 + step % 100));
    }
    is_over = 1;
    for (int number = 0; number <= WORKERS; number++)
        pthread_join(threads[number], NULL);
    printf("switched %ld\n", count);
}

static void serve(long duration) {
    long end = milliseconds() + duration;
    struct pollfd input = {0, POLLIN, 0};
    for (unsigned number = 0; duration ? milliseconds() < end : poll(&input, 1, 0) == 0; number++) {
        free(hold(1 + number % 5000));
        if (number % 8 == 0)
            memset(hold(1000), 1, 1000);
        struct timespec one = {0, 1000000};
        nanosleep(&one, NULL);
    }
}

static void inherit(void) {
    void *old = hold(100000);
    kept(mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    memlog_stop();
    memlog_start();
    void *new = hold(200000);
    kept(mmap(NULL, 2 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    free(hold(10));
    if (fork() == 0) {
        free(old);
        free(new);
        _exit(0);
    }
    wait(NULL);
}

int main(int count, char **arguments) {
    long number = count > 2 ? atol(arguments[2]) : 0;
    if (count < 3)
        return 2;
    if (*arguments[1] == 'w')
        windows(number);
    else if (*arguments[1] == 'r')
        race(number);
    else if (*arguments[1] == 'i')
        inherit();
    else if (count > 3 && fork() != 0)
        wait(NULL);
    else
        serve(number);
    return 0;
}
