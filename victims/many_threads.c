/* Many threads that do little, all alive at once: `many_threads [threads=200] [blocks a thread=50]`.
 *
 * Each thread takes its blocks through as many different call paths of eight frames, gives half of them back, and
 * waits until all others have come as far. Prints what the process then takes, `<resident kB> <mappings>`, and exits
 * 0. The threads' own blocks are threads * blocks, of 100 bytes and more; half of them are freed by their thread
 * before the measurement, the others after it.
 */
#include "victim.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STACK = 64 << 10, MOST = 64 };
static long count, blocks;
static pthread_barrier_t all_there, measured;

typedef void *(*step)(unsigned path, int depth);
static void *left(unsigned path, int depth);
static void *right(unsigned path, int depth);

/* What a bit of the path says: each of its values is a call site of its own. */
static void *further(unsigned path, int depth)
{
    step next = path & 1 ? left : right;
    return keep(depth ? next(path >> 1, depth - 1) : malloc(100 + path));
}

SITE void *left(unsigned path, int depth)
{
    return further(path, depth);
}

SITE void *right(unsigned path, int depth)
{
    return further(path, depth);
}

static void *worker(void *arg)
{
    void *mine[MOST];
    for (long i = 0; i < blocks; i++)
        mine[i] = further((unsigned)i, 6);
    for (long i = 0; i < blocks; i += 2)
        free(mine[i]);
    pthread_barrier_wait(&all_there);
    pthread_barrier_wait(&measured);
    for (long i = 1; i < blocks; i += 2)
        free(mine[i]);
    return arg;
}

static long resident_kb(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        return 0;
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static long mappings(void)
{
    long lines = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    if (!file)
        return 0;
    for (int c; (c = getc(file)) != EOF;)
        lines += c == '\n';
    fclose(file);
    return lines;
}

int main(int argc, char **argv)
{
    count = number(argc, argv, 1, 200);
    blocks = number(argc, argv, 2, 50);
    pthread_t *threads = malloc((size_t)count * sizeof *threads);
    pthread_attr_t attr;
    if (!threads || blocks > MOST || pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, STACK))
        return 1;
    pthread_barrier_init(&all_there, NULL, (unsigned)count + 1);
    pthread_barrier_init(&measured, NULL, (unsigned)count + 1);
    for (long i = 0; i < count; i++)
        if (pthread_create(&threads[i], &attr, worker, NULL))
            return 2;
    pthread_barrier_wait(&all_there);
    printf("%ld %ld\n", resident_kb(), mappings());
    pthread_barrier_wait(&measured);
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    return 0;
}
