/* What a program says by itself: marks, snapshots, names of threads. `marks` says of each mark what it held then,
 * by a count of its own: `NAME BYTES BLOCKS`; and of each thread `thread TID NAME`.
 *
 * `marks signals N`: signals for so many milliseconds, whose handler marks, while the program allocates; then
 * `signals N`, how often it did.
 *
 * `marks rounds N`: threads allocate and free, stand still for a mark, and go on at once; `round N BYTES BLOCKS`. */
#define _GNU_SOURCE
#include "../include/memlog.h"
#include "victim.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long bytes, blocks;
static volatile sig_atomic_t signals;

/* The compiler leaves out what it sees nobody use. */
static void *kept(void *block) {
    __asm__ volatile("" : "+r"(block) : : "memory");
    return block;
}

__attribute__((noinline)) static void *hold(size_t size) {
    bytes += size, blocks++;
    return kept(malloc(size));
}

static void drop(void *block, size_t size) {
    bytes -= size, blocks--;
    free(block);
}

/* Other threads hold as much, and say so before the mark. */
static pthread_barrier_t held, marked;
static void *other(void *number) {
    char name[64];
    snprintf(name, sizeof name, "worker of the third kind, number %ld", (long)number);
    memlog_name_thread(name);
    void *own = kept(malloc(50000));
    pthread_barrier_wait(&held);
    pthread_barrier_wait(&marked);
    free(own);
    char line[128];
    int length = snprintf(line, sizeof line, "thread %d %.32s\n", (int)syscall(SYS_gettid), name);
    return (void *)(long)(write(1, line, length) != length);
}

static void say(const char *name) {
    char line[128];
    int length = snprintf(line, sizeof line, "%s %ld %ld\n", name, bytes, blocks);
    if (write(1, line, length) != length)
        exit(1);
}

static void on_signal(int unused) {
    (void)unused;
    char name[32] = "signal ";
    int number = signals + 1, at = 7;
    for (int unit = 100000; unit; unit /= 10)
        name[at++] = '0' + number / unit % 10;
    memlog_mark(name);
    signals = number;
}

static long milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void among_signals(long duration) {
    struct sigaction action = {.sa_handler = on_signal};
    struct itimerval often = {{0, 300}, {0, 300}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    long end = milliseconds() + duration;
    void *some[64] = {0};
    for (unsigned turn = 0; milliseconds() < end; turn++)
        for (int index = 0; index < 64; index++) {
            free(some[index]);
            some[index] = kept(malloc(16 + (turn * 31 + index * 7) % 500));
        }
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    for (int index = 0; index < 64; index++)
        free(some[index]);
    printf("signals %d\n", (int)signals);
}

enum { WORKERS = 3, HELD = 40 };
static _Atomic long all_bytes, all_blocks;
static pthread_barrier_t stand, go;
static long rounds;

static void *work(void *number) {
    void *block[HELD] = {0};
    size_t size[HELD] = {0};
    unsigned random = 12345 + 777 * (unsigned)(long)number;
    for (long round = 0; round < rounds; round++) {
        for (int step = 0; step < 100; step++) {
            random = random * 1103515245 + 12345;
            int at = (random >> 16) % HELD;
            if (block[at])
                all_bytes -= (long)size[at], all_blocks--;
            free(block[at]);
            size[at] = 1 + (random >> 8) % 9000;
            block[at] = kept(malloc(size[at]));
            all_bytes += (long)size[at], all_blocks++;
        }
        pthread_barrier_wait(&stand);
        pthread_barrier_wait(&go);
    }
    return NULL;
}

static void among_threads(void) {
    pthread_t threads[WORKERS];
    pthread_barrier_init(&stand, NULL, WORKERS + 1);
    pthread_barrier_init(&go, NULL, WORKERS + 1);
    for (long number = 0; number < WORKERS; number++)
        pthread_create(&threads[number], NULL, work, (void *)number);
    for (long round = 0; round < rounds; round++) {
        char name[32];
        snprintf(name, sizeof name, "round %ld", round);
        pthread_barrier_wait(&stand);
        memlog_mark(name);
        bytes = all_bytes, blocks = all_blocks;
        pthread_barrier_wait(&go);
        say(name);
    }
    for (int number = 0; number < WORKERS; number++)
        pthread_join(threads[number], NULL);
}

int main(int count, char **arguments) {
    static char buffer[4096];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    if (count > 2) {
        if (*arguments[1] == 's')
            among_signals(atol(arguments[2]));
        rounds = atol(arguments[2]);
        if (*arguments[1] == 'r')
            among_threads();
        return 0;
    }
    errno = 1234;
    memlog_name_thread("the main one");
    memlog_mark("begun");
    void *first = hold(1000), *second = hold(200000);
    memlog_mark("loaded \xc3\xa4 <b>&\"quoted\"</b>");
    say("loaded \xc3\xa4 <b>&\"quoted\"</b>");
    drop(second, 200000);
    memlog_snapshot();
    memlog_sync();
    if (errno != 1234)
        return 1;
    say("snapshot 1");
    pthread_barrier_init(&held, NULL, 4);
    pthread_barrier_init(&marked, NULL, 4);
    pthread_t threads[3];
    for (long number = 0; number < 3; number++)
        pthread_create(&threads[number], NULL, other, (void *)number);
    pthread_barrier_wait(&held);
    memlog_mark("all hold");
    bytes += 150000, blocks += 3;
    say("all hold");
    pthread_barrier_wait(&marked);
    int bad = 0;
    for (int number = 0; number < 3; number++) {
        void *result;
        pthread_join(threads[number], &result);
        bad |= result != NULL;
    }
    bytes -= 150000, blocks -= 3;
    memlog_sync();
    memlog_mark("joined");
    say("joined");
    drop(first, 1000);
    printf("recording %d\n", memlog_is_recording());
    return bad;
}
