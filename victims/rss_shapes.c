/* Programs with a known shape of RSS: `rss_shapes SHAPE`. Each prints one line at its end, without allocating:
 *
 *   shape=NAME peak=FUNCTION vmhwm_kb=N peak_live_bytes=N heap_peak_bytes=N end_live_bytes=N mapped_at_peak_bytes=N
 *
 * peak is the function whose blocks make the RSS peak; peak_live_bytes is the heap's live bytes at that moment, counted by
 * the program (requested bytes). The table at the end of this file holds them; MiB below.
 *
 *   shape           what happens                                                        RSS peak is in      live there
 *   ramp            128 blocks of 1, touched; all kept to the end                       ramp_block          128
 *   spike           20 kept; 150 touched and freed; then 30 more                        spike_block         170
 *   two_peaks       100 touched, freed; again 100 by another function, freed            peak_one or _two    100
 *   untouched       2,048 never touched, freed; then 50 touched                         touched_block       50
 *   untouched_held  the same, but the 2,048 stay until the end                          touched_block       2,098
 *   exec            a 600 MiB process execs `exec_child`: ramp to 80, freed, then 10    child_block         80
 *   late_touch      200 allocated; 100,000 small events; 20 come and go; then touched   late_block          200
 *   thread          10 in main; 120 in a thread that frees them; 15 after               thread_block        130
 *   small           2,000,000 blocks of 64 bytes; every second freed; then all but 1%   small_block         122.07
 *   mapped          10 of heap kept; 150 mapped, touched, unmapped                      mapped_region       10 (+150 mapped)
 *   between         5 kept; 100 allocated, touched, freed at once; 20 kept after        sudden_block        105
 *   calloc_lazy     300 by calloc, the first 60 touched, freed; then 40 touched         lazy_block          300
 *   realloc_grow    one block grown by 1 to 128, touched as it grows; then cut to 1     grown_block         128
 *   paused          100 touched and freed while a busy thread pauses, which then takes  spike_block         100
 *                   another of 60,000 bytes and keeps it
 *   in_step         64 touched; another thread takes 60,000 bytes, and at once, before   base_block          64 + 60,000
 *                   any clock moves, the 64 are freed
 *   pauses          31 blocks of each size from 16 to 65,536, 100 ms, all freed, 100 ms other_block          2.03
 *   staircase       up 64, down 32, up 64, ... three times, then all freed              stair_block         128
 */
#define _GNU_SOURCE
#include "victim.h"
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

/* Each site is its own function, so that the report can tell them apart; the first `used` bytes are touched. */
#define BLOCK_SITE(name)                          \
    SITE void *name(size_t size, size_t used)     \
    {                                             \
        return touch(keep(malloc(size)), used);   \
    }
BLOCK_SITE(ramp_block)
BLOCK_SITE(base_block)
BLOCK_SITE(spike_block)
BLOCK_SITE(after_block)
BLOCK_SITE(peak_one)
BLOCK_SITE(peak_two)
BLOCK_SITE(untouched_block)
BLOCK_SITE(touched_block)
BLOCK_SITE(parent_block)
BLOCK_SITE(child_block)
BLOCK_SITE(late_block)
BLOCK_SITE(passing_block)
BLOCK_SITE(thread_block)
BLOCK_SITE(small_block)
BLOCK_SITE(sudden_block)
BLOCK_SITE(stair_block)
BLOCK_SITE(other_block)

SITE void *lazy_block(size_t size)
{
    return keep(calloc(size / 100, 100));
}

SITE void *grown_block(void *p, size_t size)
{
    return keep(realloc(p, size));
}

SITE void *mapped_region(size_t size)
{
    return touch(keep(mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)), size);
}

typedef void *site(size_t size, size_t used);
static void *kept[4096];

/* n blocks of 1 MiB, touched, into kept[from...]. */
static void fill(site *make, int from, int n)
{
    for (int i = from; i < from + n; i++)
        kept[i] = make(MIB, MIB);
}

static void empty(int from, int n)
{
    for (int i = from; i < from + n; i++)
        free(kept[i]);
}

static void ramp(void)
{
    fill(ramp_block, 0, 128);
}

static void spike(void)
{
    fill(base_block, 0, 20);
    fill(spike_block, 20, 150);
    empty(20, 150);
    fill(after_block, 20, 30);
}

static void two_peaks(void)
{
    fill(peak_one, 0, 100);
    empty(0, 100);
    fill(peak_two, 0, 100);
    empty(0, 100);
}

static void untouched(void)
{
    free(untouched_block(2048 * MIB, 0));
    fill(touched_block, 0, 50);
}

static void untouched_held(void)
{
    kept[50] = untouched_block(2048 * MIB, 0);
    fill(touched_block, 0, 50);
}

static void exec_child(void)
{
    fill(child_block, 0, 80);
    empty(0, 80);
    fill(after_block, 0, 10);
}

static void exec(void)
{
    fill(parent_block, 0, 600);
    execl("/proc/self/exe", "rss_shapes", "exec_child", (char *)NULL);
}

static void late_touch(void)
{
    void *p = late_block(200 * MIB, 0);
    for (int i = 0; i < 50000; i++)
        free(passing_block(1000, 1000));
    fill(passing_block, 0, 20);
    empty(0, 20);
    touch(p, 200 * MIB);
    free(p);
}

static void *in_thread(void *arg)
{
    fill(thread_block, 10, 120);
    empty(10, 120);
    return arg;
}

static void thread(void)
{
    pthread_t id;
    fill(base_block, 0, 10);
    if (pthread_create(&id, NULL, in_thread, NULL) == 0)
        pthread_join(id, NULL);
    fill(after_block, 10, 15);
}

enum { OTHER = 60000 }; /* too little to be worth a look at the clock */
static sem_t is_busy, goes_on;

static void *pausing(void *arg)
{
    for (int i = 0; i < 300; i++)
        free(passing_block(16, 16));
    sem_post(&is_busy);
    sem_wait(&goes_on);
    kept[200] = other_block(OTHER, OTHER);
    return arg;
}

static void paused(void)
{
    pthread_t id;
    if (pthread_create(&id, NULL, pausing, NULL) != 0)
        return;
    sem_wait(&is_busy);
    usleep(50000);
    fill(spike_block, 0, 100);
    empty(0, 100);
    sem_post(&goes_on);
    pthread_join(id, NULL);
}

static void *taking(void *arg)
{
    sem_wait(&goes_on);
    kept[200] = other_block(OTHER, OTHER);
    sem_post(&is_busy);
    return arg;
}

static void in_step(void)
{
    pthread_t id;
    if (pthread_create(&id, NULL, taking, NULL) != 0)
        return;
    /* Each is more than a hundredth of what is resident. */
    fill(base_block, 0, 64);
    sem_post(&goes_on);
    sem_wait(&is_busy);
    empty(0, 64);
    pthread_join(id, NULL);
}

static void pauses(void)
{
    for (size_t size = 16; size <= 65536; size *= 2) {
        for (int i = 0; i < 31; i++)
            kept[i] = other_block(size, size);
        usleep(100000);
        empty(0, 31);
        usleep(100000);
    }
}

static void small(void)
{
    enum { BLOCKS = 2000000 };
    static void *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = small_block(64, 64);
    for (int i = 0; i < BLOCKS; i += 2)
        free(blocks[i]);
    for (int i = 1; i < BLOCKS; i += 2)
        if (i % 100 != 1)
            free(blocks[i]);
}

static void mapped(void)
{
    fill(base_block, 0, 10);
    void *p = mapped_region(150 * MIB);
    munmap(p, 150 * MIB);
    fill(after_block, 10, 5);
}

static void between(void)
{
    fill(base_block, 0, 5);
    free(sudden_block(100 * MIB, 100 * MIB));
    fill(after_block, 5, 20);
}

static void calloc_lazy(void)
{
    void *p = lazy_block(300 * MIB);
    touch(p, 60 * MIB);
    free(p);
    fill(after_block, 0, 40);
}

static void realloc_grow(void)
{
    char *p = NULL;
    for (size_t n = 1; n <= 128; n++) {
        p = grown_block(p, n * MIB);
        touch(p + (n - 1) * MIB, MIB);
    }
    kept[0] = grown_block(p, MIB);
}

static void staircase(void)
{
    int used = 0;
    for (int step = 0; step < 3; step++) {
        fill(stair_block, used, 64);
        used += 64;
        if (step < 2) {
            used -= 32;
            empty(used, 32);
        }
    }
    empty(0, used);
}

static const struct shape {
    const char *name;
    void (*run)(void);
    const char *peak;
    size_t peak_live, heap_peak, end_live, mapped;
} shapes[] = {
    {"ramp", ramp, "ramp_block", 128 * MIB, 128 * MIB, 128 * MIB, 0},
    {"spike", spike, "spike_block", 170 * MIB, 170 * MIB, 50 * MIB, 0},
    {"two_peaks", two_peaks, "peak_one|peak_two", 100 * MIB, 100 * MIB, 0, 0},
    {"untouched", untouched, "touched_block", 50 * MIB, 2048 * MIB, 50 * MIB, 0},
    {"untouched_held", untouched_held, "touched_block", 2098 * MIB, 2098 * MIB, 2098 * MIB, 0},
    {"exec", exec, "parent_block", 600 * MIB, 600 * MIB, 600 * MIB, 0}, /* of the first image, which prints nothing */
    {"exec_child", exec_child, "child_block", 80 * MIB, 80 * MIB, 10 * MIB, 0},
    {"late_touch", late_touch, "late_block", 200 * MIB, 220 * MIB, 0, 0},
    {"thread", thread, "thread_block", 130 * MIB, 130 * MIB, 25 * MIB, 0},
    {"paused", paused, "spike_block", 100 * MIB, 100 * MIB, OTHER, 0},
    {"in_step", in_step, "base_block", 64 * MIB + OTHER, 64 * MIB + OTHER, OTHER, 0},
    {"pauses", pauses, "other_block", 31 * 65536, 31 * 65536, 0, 0},
    {"small", small, "small_block", 128000000, 128000000, 1280000, 0},
    {"mapped", mapped, "mapped_region", 10 * MIB, 15 * MIB, 15 * MIB, 150 * MIB},
    {"between", between, "sudden_block", 105 * MIB, 105 * MIB, 25 * MIB, 0},
    {"calloc_lazy", calloc_lazy, "lazy_block", 300 * MIB, 300 * MIB, 40 * MIB, 0},
    {"realloc_grow", realloc_grow, "grown_block", 128 * MIB, 128 * MIB, MIB, 0},
    {"staircase", staircase, "stair_block", 128 * MIB, 128 * MIB, 0, 0},
};

static long vmhwm_kb(void)
{
    char text[8192];
    int fd = open("/proc/self/status", O_RDONLY);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    char *line = strstr(text, "VmHWM:");
    return line ? atol(line + 6) : -1;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct shape *s = &shapes[i];
        if (argc == 2 && !strcmp(argv[1], s->name)) {
            char line[400];
            s->run();
            int n = snprintf(line, sizeof line,
                             "shape=%s peak=%s vmhwm_kb=%ld peak_live_bytes=%zu heap_peak_bytes=%zu end_live_bytes=%zu mapped_at_peak_bytes=%zu\n",
                             s->name, s->peak, vmhwm_kb(), s->peak_live, s->heap_peak, s->end_live, s->mapped);
            return write(1, line, n) != n;
        }
    }
    static const char usage[] = "usage: rss_shapes SHAPE (see the source)\n";
    return 2 + 0 * (int)write(2, usage, sizeof usage - 1);
}
