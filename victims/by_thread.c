// Threads with names, each of which holds what it says: "TID NAME BYTES BLOCKS".
// What one of them allocated another frees, and takes as much again.
#define _GNU_SOURCE
#include "victim.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WORKERS = 3, MOST = 200 };
static const size_t KIB = 1024;
static void *passed[MOST];

static void say(const char *name, long bytes, int blocks)
{
    char line[96];
    int length = snprintf(line, sizeof line, "%d %s %ld %d\n", (int)syscall(SYS_gettid), name, bytes, blocks);
    if (write(1, line, length) != length)
        _exit(1);
}

static void hold(const char *name, int blocks, size_t size)
{
    for (int i = 0; i < blocks; i++)
        touch(keep(malloc(size)), size);
    say(name, (long)blocks * (long)size, blocks);
}

static void *worker(void *unused)
{
    pthread_setname_np(pthread_self(), "worker");
    hold("worker", 50, 40 * KIB);
    return unused;
}

static void *giver(void *unused)
{
    pthread_setname_np(pthread_self(), "giver");
    for (int i = 0; i < MOST; i++)
        passed[i] = touch(keep(malloc(30 * KIB)), 30 * KIB);
    return unused;
}

static void *taker(void *unused)
{
    pthread_setname_np(pthread_self(), "taker");
    for (int i = 0; i < MOST; i++)
        free(passed[i]);
    hold("taker", MOST, 60 * KIB);
    return unused;
}

static void run(void *(*what)(void *), int count)
{
    pthread_t threads[WORKERS];
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, what, NULL))
            _exit(1);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    hold("main", 10, 400 * KIB);
    run(worker, WORKERS);
    run(giver, 1);
    run(taker, 1);
    // Resident memory is read by who allocates: all of it is to be seen, however busy the machine is.
    for (int i = 0; i < 100; i++) {
        usleep(500);
        free(keep(malloc(100)));
    }
    return 0;
}
