/* Scopes of threads, and what was allocated in each by a count of the program's own:
 * `PATH<tab>BYTES<tab>BLOCKS`. All of it comes from `take`.
 *
 * `scopes`            nested ones, threads that take over each other's places, more than have a name
 * `scopes rounds N`   the same with so many times as much in between
 * `scopes names`      threads whose names change, unseen by memlog, while they call realloc
 * `scopes off`        recording goes off and on inside of one
 * `scopes fork`       a child goes on inside of one; its lines begin with `child `
 * `scopes signals N`  for so many milliseconds a handler begins and ends one, too */
#define _GNU_SOURCE
#include "../include/memlog.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NONE "(no scope)"

static struct { char path[160]; long bytes, blocks; } sums[64];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void count(const char *path, size_t size) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 64; i++) {
        if (!sums[i].path[0])
            snprintf(sums[i].path, sizeof sums[i].path, "%s", path);
        if (strcmp(sums[i].path, path) == 0) {
            sums[i].bytes += size, sums[i].blocks++;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

static void say(const char *before) {
    char line[256];
    for (int i = 0; i < 64 && sums[i].path[0]; i++) {
        int length = snprintf(line, sizeof line, "%s%s\t%ld\t%ld\n", before, sums[i].path, sums[i].bytes, sums[i].blocks);
        if (write(1, line, length) != length)
            exit(1);
    }
}

/* The compiler leaves out what it sees nobody use. */
static void *kept(void *block) {
    __asm__ volatile("" : "+r"(block) : : "memory");
    return block;
}

/* A block of a scope that is said to be this one. */
__attribute__((noinline)) static void *take(const char *path, void *old, size_t size) {
    count(path, size);
    return kept(old ? realloc(old, size) : malloc(size));
}

static void nested(void) {
    memlog_scope_begin("load");
    take("load", NULL, 100);
    memlog_scope_begin("parse");
    for (int i = 1; i <= 50; i++)
        free(take("load/parse", NULL, i));
    memlog_scope_begin(""); /* a scope without a name is counted, and nothing else */
    void *block = take("load/parse", NULL, 7);
    memlog_scope_end();
    memlog_scope_end();
    block = take("load", block, 3000);
    memlog_scope_end();
    free(take(NONE, block, 40000));
}

static void unbalanced(void) {
    memlog_scope_end();
    memlog_scope_end();
    take(NONE, NULL, 9);
    memlog_scope_begin(NULL);
    memlog_scope_begin("after");
    take("after", NULL, 11);
    memlog_scope_end();
    memlog_scope_end();
    take(NONE, NULL, 13);
}

static void deep_and_long(void) {
    char path[160] = "d", name[201];
    for (int i = 1; i < 16; i++)
        strcat(path, "/d");
    for (int i = 0; i < 40; i++)
        memlog_scope_begin("d");
    take(path, NULL, 21);
    for (int i = 0; i < 24; i++)
        memlog_scope_end();
    take(path, NULL, 22);
    memlog_scope_end();
    path[strlen(path) - 2] = 0;
    take(path, NULL, 23);
    for (int i = 0; i < 15; i++)
        memlog_scope_end();
    take(NONE, NULL, 24);
    memset(name, 'x', 200), name[200] = 0;
    memlog_scope_begin(name);
    memlog_scope_begin("y");
    name[128] = 0;
    take(name, NULL, 25);
    memlog_scope_end();
    memlog_scope_end();
}

/* Several chunks of the log. */
static void many(void) {
    memlog_scope_begin("many");
    for (int i = 0; i < 60000; i++)
        free(take("many", NULL, 16 + i % 2000));
    memlog_scope_end();
}

static void *worker(void *number) {
    long n = (long)number;
    for (int i = 0; i < 300; i++) {
        memlog_scope_begin("work");
        void *block = take("work", NULL, n + i);
        memlog_scope_begin(n % 2 ? "odd" : "even");
        free(take(n % 2 ? "work/odd" : "work/even", NULL, 2 * n + i));
        memlog_scope_end();
        if (i == 100)
            memlog_name_thread("renamed inside");
        free(take("work", block, n + 2 * i + 1));
        memlog_scope_end();
        free(take(NONE, NULL, 31));
    }
    memlog_scope_begin("left open");
    take("left open", NULL, n + 1);
    return NULL;
}

/* It has the place of one that ended inside a scope. */
static void *late(void *number) {
    take(NONE, NULL, (long)number + 1);
    return NULL;
}

static void in_threads(void *(*work)(void *)) {
    pthread_t threads[6];
    for (long n = 0; n < 6; n++)
        pthread_create(&threads[n], NULL, work, (void *)n);
    for (int n = 0; n < 6; n++)
        pthread_join(threads[n], NULL);
}

static void off(void) {
    memlog_scope_begin("outer");
    take("outer", NULL, 10);
    memlog_stop();
    memlog_scope_begin("unseen");
    free(kept(malloc(999)));
    memlog_scope_end();
    memlog_scope_begin("inner");
    memlog_start();
    take("outer/inner", NULL, 20);
    memlog_scope_end();
    take("outer", NULL, 30);
    memlog_stop();
    memlog_scope_end();
    memlog_start();
    take(NONE, NULL, 40);
}

static void forked(void) {
    memlog_scope_begin("server");
    take("server", NULL, 10);
    pid_t child = fork();
    if (child == 0) {
        take("server", NULL, 20);
        memlog_scope_begin("request");
        take("server/request", NULL, 30);
        memlog_scope_end();
        memlog_scope_end();
        take(NONE, NULL, 40);
        say("child ");
        memlog_sync();
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    memlog_scope_end();
    take(NONE, NULL, 50);
}

static void handler(int signal) {
    (void)signal;
    memlog_scope_begin("handler");
    memlog_scope_end();
}

static long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void signalled(long ms) {
    struct sigaction act;
    memset(&act, 0, sizeof act);
    act.sa_handler = handler, act.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &act, NULL);
    struct itimerval often = {{0, 200}, {0, 200}};
    setitimer(ITIMER_REAL, &often, NULL);
    for (long end = now_ms() + ms; now_ms() < end;) {
        memlog_scope_begin("loop");
        for (int i = 0; i < 50; i++)
            free(take("loop", NULL, i + 1));
        memlog_scope_end();
        free(take(NONE, NULL, 17));
    }
    memset(&often, 0, sizeof often);
    setitimer(ITIMER_REAL, &often, NULL);
}

/* memlog looks at the name at times of its own: between the halves of a realloc, too. */
static void *renamed(void *number) {
    char name[16];
    int file = open("/proc/thread-self/comm", O_WRONLY), count = 0;
    void *block = NULL;
    memlog_scope_begin("outer");
    memlog_scope_begin("loop");
    for (long end = now_ms() + 12; now_ms() < end; count++) {
        int length = snprintf(name, sizeof name, "n%ld.%d", (long)number, count % 1000);
        if (file < 0 || write(file, name, length) != length)
            exit(1);
        for (int i = 0; i < 4; i++)
            block = take("outer/loop", block, i % 2 ? 5000 : 9000);
    }
    memlog_scope_end();
    memlog_scope_end();
    free(block);
    free(take(NONE, NULL, 100));
    close(file);
    return NULL;
}

static void names(void) {
    for (long n = 0; n < 60; n++) {
        pthread_t thread;
        pthread_create(&thread, NULL, renamed, (void *)n);
        pthread_join(thread, NULL);
    }
}

int main(int arguments, char **argument) {
    const char *mode = arguments > 1 ? argument[1] : "";
    if (strcmp(mode, "off") == 0)
        off();
    else if (strcmp(mode, "names") == 0)
        names();
    else if (strcmp(mode, "fork") == 0)
        forked();
    else if (strcmp(mode, "signals") == 0)
        signalled(arguments > 2 ? atol(argument[2]) : 300);
    else {
        nested(), unbalanced(), deep_and_long();
        for (int rounds = strcmp(mode, "rounds") == 0 ? atoi(argument[2]) : 1; rounds > 0; rounds--)
            many();
        in_threads(worker), in_threads(late), in_threads(worker);
    }
    say("");
    return 0;
}
