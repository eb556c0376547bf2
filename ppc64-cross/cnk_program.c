/* What a rank of a parallel program does to its allocator, with the calls of Blue Gene's kernel only: `cnk_program
 * [die]`. The same in each run, whatever the threads' order: all of them live at the same time. Prints one line.
 * With `die` it grows to 96 MiB within a second and is killed, as a job is that runs out of time or memory. */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { THREADS = 8, BLOCKS = 64, STEPS = 4000 };

static pthread_barrier_t all;
static void *from_handler[THREADS + 1];
static volatile int handled;

static void handler(int signal)
{
    (void)signal;
    int number = __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
    from_handler[number] = malloc(1000 + (size_t)number);
}

__attribute__((noinline)) static void *one_block(unsigned random, void *old)
{
    size_t size = 1 + random % 4000;
    switch (random >> 24 & 3) {
    case 0:
        free(old);
        return calloc(1, size);
    case 1:
        free(old);
        return memalign(64, size);
    case 2:
        return realloc(old, size);
    default:
        free(old);
        return malloc(size);
    }
}

static void *worker(void *argument)
{
    unsigned random = 1 + (unsigned)(uintptr_t)argument;
    void *blocks[BLOCKS] = {0};
    pthread_barrier_wait(&all);
    /* Outside the allocator, so that the handler may use it. */
    raise(SIGUSR1);
    for (int step = 0; step < STEPS; step++) {
        random = random * 1664525u + 1013904223u;
        void **place = &blocks[random >> 8 & (BLOCKS - 1)];
        *place = one_block(random >> 2, *place);
        if (!*place)
            abort();
    }
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    pthread_barrier_wait(&all);
    return NULL;
}

static double seconds(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return (double)now.tv_sec + (double)now.tv_usec / 1e6;
}

static void die(void)
{
    double start = seconds();
    for (int mib = 1; mib <= 96; mib++) {
        for (int i = 0; i < 16; i++) {
            char *block = malloc(1 << 16);
            if (!block)
                abort();
            memset(block, 1, 1 << 16);
        }
        while (seconds() < start + mib / 96.)
            ;
    }
    kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "die"))
        die();
    struct sigaction action = {.sa_handler = handler};
    pthread_t threads[THREADS];
    if (sigaction(SIGUSR1, &action, NULL) || pthread_barrier_init(&all, NULL, THREADS + 1))
        return 3;
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, worker, (void *)i))
            return 4;
    pthread_barrier_wait(&all);
    pthread_barrier_wait(&all);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < handled; i++)
        free(from_handler[i]);
    static const char said[] = "8 threads, 8 signals\n";
    return handled == THREADS && write(1, said, sizeof said - 1) == sizeof said - 1 ? 0 : 5;
}
