// Threads that get their names after they have allocated, each in another way.
// Says "TID NAME" of each with the last name.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_barrier_t begun, named, end;

static void allocate(void) {
    void *block = malloc(100);
    __asm__ volatile("" : : "r"(block) : "memory");
    free(block);
}

static void say(const char *name) {
    char line[64];
    int length = snprintf(line, sizeof line, "%d %s\n", (int)syscall(SYS_gettid), name);
    if (write(1, line, length) != length)
        exit(1);
}

static long milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// The last ones come after the end, however long the thread has to wait for its turn.
static void allocate_until(long end) {
    for (int is_over = 0; !is_over;) {
        struct timespec pause = {0, 1000000};
        nanosleep(&pause, NULL);
        is_over = milliseconds() >= end;
        for (int block = 0; block < 100; block++)
            allocate();
    }
}

// Goes on allocating; it is gone before the end. A name is looked for again after twice the time each time, so the last
// one has to stay for longer than all before.
static void *by_itself(void *unused) {
    long start = milliseconds();
    allocate();
    pthread_setname_np(pthread_self(), "for a while");
    allocate_until(start + 100);
    pthread_setname_np(pthread_self(), "by itself");
    allocate_until(milliseconds() + 2 * (milliseconds() - start));
    say("by itself");
    return unused;
}

// By a call that a door sees; then nothing, and it is gone.
static void *by_prctl(void *unused) {
    allocate();
    prctl(PR_SET_NAME, "by prctl");
    say("by prctl");
    return unused;
}

// Named by another, and it allocates no more.
static void *by_another(void *unused) {
    allocate();
    pthread_barrier_wait(&begun);
    pthread_barrier_wait(&named);
    say("by another");
    pthread_barrier_wait(&end);
    pause();
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_barrier_init(&begun, NULL, 2);
    pthread_barrier_init(&named, NULL, 2);
    pthread_barrier_init(&end, NULL, 2);
    pthread_create(&threads[0], NULL, by_another, NULL);
    pthread_barrier_wait(&begun);
    pthread_setname_np(threads[0], "by another");
    pthread_barrier_wait(&named);
    pthread_barrier_wait(&end);
    pthread_create(&threads[1], NULL, by_prctl, NULL);
    pthread_join(threads[1], NULL);
    pthread_create(&threads[2], NULL, by_itself, NULL);
    pthread_join(threads[2], NULL);
    allocate();
    pthread_setname_np(pthread_self(), "the first");
    say("the first");
    return 0;
}
