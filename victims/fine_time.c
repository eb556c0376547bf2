/* Knows when each of its calls was: `fine_time HOW FILE` writes FILE.TID for each thread, a line a call:
 *
 *   WHAT SIZE ADDRESS BEFORE AFTER
 *
 * WHAT is as in a dump: M of malloc, calloc and realloc's second half, F of free and realloc's first, MAP, UNMAP, and
 * FAILED of a malloc of what nobody has. BEFORE and AFTER are CLOCK_MONOTONIC in ns, read right before the call and right
 * after it.
 *
 *   threads   four threads, with pauses
 *   fork      the same in a forked child
 *   forbid    nobody may read the processor's counter, prctl(PR_SET_TSC), and a child neither; no FILE, no clock
 *   strict    seccomp's strict mode, which forbids the counter as well
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "victim.h"
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 400, ROWS = 12 * ROUNDS };

struct row {
    const char *what;
    uint64_t size, address, before, after;
};
struct rows {
    struct row rows[ROWS];
    int count;
};
static struct rows all[THREADS + 1];
static const char *stem;

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void spin(uint64_t ns)
{
    uint64_t end = now() + ns;
    while (now() < end)
        ;
}

static void row(struct rows *rows, const char *what, uint64_t size, uint64_t at, uint64_t before, uint64_t after)
{
    rows->rows[rows->count++] = (struct row){what, size, at, before, after};
}

static SITE void *get(struct rows *rows, size_t size)
{
    uint64_t before = now();
    void *block = keep(size % 2 ? malloc(size) : calloc(1, size));
    row(rows, "M", size, (uint64_t)block, before, now());
    return block;
}

static SITE void put(struct rows *rows, void *block)
{
    uint64_t at = (uint64_t)block, before = now();
    free(block);
    row(rows, "F", 0, at, before, now());
}

static SITE void *grow(struct rows *rows, void *block, size_t size)
{
    uint64_t at = (uint64_t)block, before = now();
    void *to = keep(realloc(block, size));
    uint64_t after = now();
    row(rows, "F", 0, at, before, after);
    row(rows, "M", size, (uint64_t)to, before, after);
    return to;
}

/* Held for a known time, at least: who is preempted holds it longer. */
static SITE void hold(struct rows *rows, size_t size, uint64_t ns)
{
    void *block = get(rows, size);
    spin(ns);
    put(rows, block);
}

static SITE void map(struct rows *rows, size_t size)
{
    uint64_t before = now();
    void *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    row(rows, "MAP", size, (uint64_t)at, before, now());
    before = now();
    munmap(at, size);
    row(rows, "UNMAP", 0, (uint64_t)at, before, now());
}

static SITE void fail(struct rows *rows, size_t size)
{
    uint64_t before = now();
    void *block = keep(malloc(size));
    row(rows, "FAILED", size, (uint64_t)block, before, now());
    free(block);
}

static void tell(const struct rows *rows)
{
    char line[160];
    snprintf(line, sizeof line, "%s.%ld", stem, (long)syscall(SYS_gettid));
    int fd = open(line, O_WRONLY | O_CREAT | O_EXCL, 0600);
    for (int i = 0; i < rows->count; i++) {
        const struct row *r = &rows->rows[i];
        int n = snprintf(line, sizeof line, "%s %llu %#llx %llu %llu\n", r->what, (unsigned long long)r->size,
                         (unsigned long long)r->address, (unsigned long long)r->before, (unsigned long long)r->after);
        if (write(fd, line, n) != n)
            _exit(3);
    }
    close(fd);
}

static void *work(void *its)
{
    static const uint64_t waits[] = {0, 100, 1000, 20000, 300000};
    struct rows *rows = its;
    for (int round = 0; round < ROUNDS; round++) {
        size_t size = 20 + 7 * (size_t)round;
        hold(rows, size, waits[round % 5]);
        void *block = get(rows, size + 1);
        block = grow(rows, block, 3 * size);
        block = grow(rows, block, round % 3 ? size / 2 : 90 * size);
        if (round % 16 == 0) {
            put(rows, get(rows, (size_t)100 << 10));
            put(rows, get(rows, (size_t)300 << 10));
            map(rows, (size_t)1 << 20);
            fail(rows, ((size_t)1 << 62) + size);
        }
        if (round % 100 == 99) {
            /* What comes after a pause is of after it, however small. */
            struct timespec pause = {0, 50000000};
            nanosleep(&pause, NULL);
        }
        put(rows, block);
    }
    return NULL;
}

static void *thread(void *its)
{
    work(its);
    tell(its);
    return NULL;
}

static void forbid(void)
{
    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0))
        _exit(77);
}

static SITE void churn(void)
{
    for (int i = 0; i < 1000; i++)
        free(keep(malloc(10 + i % 7)));
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "threads";
    stem = argc > 2 ? argv[2] : "truth";
    if (!strcmp(how, "forbid")) {
        churn();
        forbid();
        churn();
        if (fork() == 0) {
            churn();
            _exit(0);
        }
        wait(NULL);
        _exit(0);
    }
    if (!strcmp(how, "strict")) {
        churn();
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0))
            _exit(77);
        churn();
        syscall(SYS_exit, 0);
    }
    work(&all[THREADS]);
    if (!strcmp(how, "fork")) {
        pid_t child = fork();
        if (child == 0) {
            all[THREADS].count = 0;
            thread(&all[THREADS]);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        tell(&all[THREADS]);
        return status != 0;
    }
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread, &all[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    tell(&all[THREADS]);
    return 0;
}
