/* Programs that know what was live when they were biggest: `peaks SHAPE [SEED]`, or `peaks list`. Each prints at its end,
 * without allocating:
 *
 *   shape=NAME peak_kb=N live_bytes=N
 *
 * It looks at its own resident memory, exactly (smaps_rollup), wherever its heap has just been largest or changes its
 * course. live_bytes is the largest heap among the looks within the grain (1 %, at least 256 KiB) of the highest one, but
 * for heaps that are larger than all that is resident: untouched memory makes no peak. Run without memlog that is the truth for a run with memlog, which has pages of its own besides: programs make the same calls
 * each time. The heap is what they asked for. Those that end at their peak without a last word (ENDS) print the same.
 */
#define _GNU_SOURCE
#include "victim.h"
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __GLIBC__ /* musl can be told nothing, and gives back what it can by itself. */
#define mallopt(what, value) ((void)0)
#define malloc_trim(keep) ((void)0)
#endif

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

enum { MOST = 2000000, LOOKS = 4096, THREADS = 4 };
static void *block[MOST];
static uint32_t size_of[MOST];
static int blocks; /* those from 0 on are there, or null */
static long live;
static struct { long kb, live; } looked[LOOKS];
static int looks;

static long resident_kb(void)
{
    static char text[8192];
    int file = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    ssize_t n = read(file, text, sizeof text - 1);
    close(file);
    text[n > 0 ? n : 0] = 0;
    const char *line = strstr(text, "\nRss:");
    return line ? atol(line + 5) : 0;
}

static void look(void)
{
    if (looks < LOOKS) {
        looked[looks].kb = resident_kb();
        looked[looks++].live = live;
    }
}

SITE void take(size_t size)
{
    block[blocks] = touch(keep(malloc(size)), size);
    size_of[blocks++] = size;
    live += size;
}

SITE void take_zeroed(size_t size)
{
    block[blocks] = touch(keep(calloc(1, size)), size);
    size_of[blocks++] = size;
    live += size;
}

SITE void take_aligned(size_t size)
{
    block[blocks] = touch(keep(aligned_alloc(64, size)), size);
    size_of[blocks++] = size;
    live += size;
}

static void drop(int i)
{
    if (block[i])
        live -= size_of[i];
    free(block[i]);
    block[i] = NULL;
}

SITE void resize(int i, size_t size)
{
    block[i] = touch(keep(realloc(block[i], size)), size);
    live += (long)size - (long)size_of[i];
    size_of[i] = size;
}

/* Blocks of a size, until so much is live; a look at every tenth of it. */
static void fill(void (*taking)(size_t), size_t size, size_t total)
{
    long tenth = total / 10, next = live + tenth;
    for (size_t done = 0; done < total; done += size) {
        taking(size);
        if (live >= next)
            look(), next += tenth;
    }
    look();
}

/* The blocks from one on, in an order, with a look at every tenth. */
static void drop_from(int from, int upwards)
{
    int count = blocks - from, tenth = count / 10 + 1;
    for (int k = 0; k < count; k++) {
        drop(upwards ? from + k : blocks - 1 - k);
        if (k % tenth == tenth - 1)
            look();
    }
    blocks = from;
    look();
}

/* A block at the top of the heap, so that what lies below is kept by the allocator when it is released. */
static void pin(void)
{
    touch(keep(malloc(4096)), 4096);
    live += 4096;
    look();
}

/* Small pairs, which change nothing but the log. */
static void churn(long pairs)
{
    for (long i = 0; i < pairs; i++)
        free(keep(malloc(24 + (i & 7) * 16)));
    look();
}

static uint64_t state = 88172645463325252u;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state % below;
}

static void shuffle(int from)
{
    for (int i = blocks - 1; i > from; i--) {
        int other = from + draw(i - from + 1);
        void *p = block[i];
        uint32_t size = size_of[i];
        block[i] = block[other], size_of[i] = size_of[other];
        block[other] = p, size_of[other] = size;
    }
}

static void pinned(void) { fill(take, 100, 100 * MIB), pin(), drop_from(0, 1); }
static void pinned_downwards(void) { fill(take, 100, 100 * MIB), pin(), drop_from(0, 0); }
static void pinned_at_random(void) { fill(take, 100, 100 * MIB), pin(), shuffle(0), drop_from(0, 1); }
static void pinned_zeroed(void) { fill(take_zeroed, 200, 60 * MIB), pin(), drop_from(0, 1); }
static void pinned_aligned(void) { fill(take_aligned, 192, 60 * MIB), pin(), drop_from(0, 1); }
static void trimmed(void) { fill(take, 100, 100 * MIB), drop_from(0, 0); }
static void untrimmed(void) { mallopt(M_TRIM_THRESHOLD, 1 << 30), trimmed(); }
static void trimmed_by_hand(void) { fill(take, 100, 50 * MIB), pin(), drop_from(0, 1), malloc_trim(0), look(); }
static void mapped_blocks(void) { fill(take, MIB, 100 * MIB), drop_from(0, 1); }
static void large_unmapped(void) { mallopt(M_MMAP_THRESHOLD, 1 << 30), fill(take, MIB, 100 * MIB), pin(), drop_from(0, 1); }
static void small(void) { fill(take, 100, 5 * MIB), pin(), drop_from(0, 1); }
static void tiny(void) { fill(take, 64, 2 * MIB), pin(), drop_from(0, 1); }
static void tiny_kept(void) { fill(take, 64, 2 * MIB); }
static void churn_before(void) { churn(3000000), fill(take, 100, 20 * MIB), pin(), drop_from(0, 1); }
static void churn_after(void) { fill(take, 1000, 30 * MIB), drop_from(0, 0), churn(5000000); }
static void churn_below(void) { fill(take, 1000, 30 * MIB), pin(), drop_from(blocks / 2, 0), churn(5000000); }

/* Small blocks that are given back, and a few that come later. */
static void churn_kept(void)
{
    fill(take, 100, 30 * MIB), drop_from(0, 1), malloc_trim(0), look();
    churn(6000000), take(10 * MIB), look(), churn(3000000), drop_from(0, 1);
}

static void rounds(void)
{
    for (int i = 0; i < 5; i++)
        fill(take, 100, 40 * MIB), pin(), drop_from(0, 1);
}

static void rounds_rising(void)
{
    for (int i = 1; i <= 5; i++)
        fill(take, 100, i * 10 * MIB), drop_from(0, i & 1);
}

static void rounds_falling(void)
{
    for (int i = 5; i >= 1; i--)
        fill(take, 100, i * 10 * MIB), pin(), drop_from(0, i & 1);
}

static void half_then_large(void)
{
    fill(take, 100, 60 * MIB), pin();
    int from = blocks;
    shuffle(0);
    drop_from(from / 2, 1);
    fill(take, MIB, 60 * MIB);
    drop_from(0, 1);
}

static void resized_up(void)
{
    take(16);
    for (size_t size = KIB; size <= 80 * MIB; size += size / 4) {
        resize(0, size);
        look();
    }
    drop_from(0, 1);
}

static void resized_down(void)
{
    fill(take, 2000, 60 * MIB), pin();
    for (int i = 0; i < blocks; i++)
        resize(i, 100);
    look();
    drop_from(0, 1);
}

static void late_touched(void)
{
    fill(take, 100, 20 * MIB), pin();
    int first = blocks;
    block[blocks] = keep(malloc(50 * MIB)), size_of[blocks++] = 50 * MIB, live += 50 * MIB;
    look();
    drop_from(0, 1), blocks = first + 1, block[first] = NULL;
}

/* What is resident at the peak is mostly no heap. */
static void mapping(void)
{
    fill(take, 1000, 10 * MIB);
    char *p = touch(keep(mmap(NULL, 80 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)), 80 * MIB);
    look();
    munmap(p, 80 * MIB);
    look();
    fill(take, 1000, 20 * MIB);
    drop_from(0, 1);
}

SITE void deep(void)
{
    char frame[6 * MIB];
    touch(keep(frame), sizeof frame);
    look();
}

static void stack(void) { fill(take, 1000, 5 * MIB), deep(), drop_from(0, 1), fill(take, 1000, 5 * MIB); }

/* Threads fill their arenas one after another, so that all is counted by one at a time. */
static int share[THREADS + 1];
static void *filling(void *number)
{
    fill(take, 100, 15 * MIB), pin();
    share[(intptr_t)number + 1] = blocks;
    return NULL;
}

static void *emptying(void *number)
{
    intptr_t n = (intptr_t)number;
    for (int i = share[n]; i < share[n + 1]; i++)
        drop(i);
    look();
    return NULL;
}

static void one_by_one(void *(*what)(void *))
{
    for (intptr_t n = 0; n < THREADS; n++) {
        pthread_t id;
        if (pthread_create(&id, NULL, what, (void *)n) == 0)
            pthread_join(id, NULL);
    }
}

static void in_threads(void) { one_by_one(filling), one_by_one(emptying), look(); }
static void across_threads(void) { one_by_one(filling), drop_from(0, 1); }

/* Many threads at once, each of which has a log of its own for a while; then the peak, lower than theirs was. */
static void *waiting(void *barrier)
{
    for (int i = 0; i < 200; i++)
        free(keep(malloc(24)));
    pthread_barrier_wait(barrier);
    return NULL;
}

static void after_threads(void)
{
    enum { MANY = 400 };
    static pthread_t id[MANY];
    static pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, MANY);
    mallopt(M_ARENA_MAX, 1);
    for (int i = 0; i < MANY; i++)
        pthread_create(&id[i], NULL, waiting, &barrier);
    for (int i = 0; i < MANY; i++)
        pthread_join(id[i], NULL);
    look();
    fill(take, 100, 8 * MIB), pin(), drop_from(0, 1);
}

/* The peak is past, and then the log alone grows: by many threads, and by many stacks. */
static void before_threads(void)
{
    enum { MANY = 1000 };
    static pthread_t id[MANY];
    static pthread_barrier_t barrier;
    pthread_attr_t small;
    take(30 * MIB), look(), drop_from(0, 1);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 * KIB);
    pthread_barrier_init(&barrier, NULL, MANY);
    mallopt(M_ARENA_MAX, 1);
    for (int i = 0; i < MANY; i++)
        pthread_create(&id[i], &small, waiting, &barrier);
    for (int i = 0; i < MANY; i++)
        pthread_join(id[i], NULL);
    look();
}

static int passed;
SITE void branch(unsigned way, int depth)
{
    if (!depth)
        free(keep(malloc(16)));
    else if (way & 1)
        branch(way >> 1, depth - 1), passed++;
    else
        branch(way >> 1, depth - 1), passed--;
}

static void before_stacks(void)
{
    take(30 * MIB), look(), drop_from(0, 1);
    for (unsigned i = 0; i < 400000; i++)
        branch(i * 2654435761u, 24);
    look();
}

SITE char *map(size_t size, int rights)
{
    return keep(mmap(NULL, size, rights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

/* Blocks that come and go untouched, a little at a time, and then a mapping makes the peak. */
static void mapping_after_untouched(void)
{
    enum { FEW = 100, SMALL = 9000 };
    take(20 * MIB), look();
    void *p[FEW];
    for (int i = 0; i < FEW; i++)
        p[i] = keep(malloc(SMALL));
    for (int i = 0; i < FEW; i++)
        free(p[i]);
    char *large = touch(map(100 * MIB, PROT_READ | PROT_WRITE), 100 * MIB);
    look();
    munmap(large, 100 * MIB);
    look();
}

/* The same after a heap that the allocator keeps. */
static void mapping_after_kept(void)
{
    fill(take, 200, 30 * MIB), pin(), drop_from(0, 1);
    char *large = touch(map(30 * MIB, PROT_READ | PROT_WRITE), 30 * MIB);
    look();
    munmap(large, 30 * MIB);
    look();
}

/* The same by the data segment, which no allocator here shares. */
static void data_segment(void)
{
    fill(take, 200, 10 * MIB), pin(), drop_from(0, 1);
    if (sbrk(60 * MIB) == (void *)-1)
        return;
    touch((char *)sbrk(0) - 60 * MIB, 60 * MIB);
    look();
}

/* A mapping that is a little more than the heap was before: of two moments within the grain that of the larger heap. */
static void two_moments(void)
{
    size_t more = 90 * MIB + 700 * KIB;
    take(90 * MIB), look(), drop_from(0, 1);
    char *large = touch(map(more, PROT_READ | PROT_WRITE), more);
    look();
    munmap(large, more);
    look();
}

/* What has no access is resident nowhere; what is, is no mapping. */
static char data[80 * MIB];
static void reserved(void)
{
    map(KIB * MIB, PROT_NONE);
    touch(data, sizeof data);
    look();
    take(2 * MIB), look();
}

/* What was mapped was touched, and what is live was not. */
static void untouched_heap(void)
{
    void *p = keep(malloc(50 * MIB));
    live += 50 * MIB;
    char *large = touch(map(100 * MIB, PROT_READ | PROT_WRITE), 100 * MIB);
    look();
    munmap(large, 100 * MIB), free(p);
}

/* Blocks of no bytes take room as well. */
static void of_no_bytes(void)
{
    for (int i = 0; i < 100000; i++)
        keep(malloc(0));
    look();
}

/* Ends at the peak, of which nothing is read any more. */
static void to_the_peak(void) { fill(take, 100000, 60 * MIB), take(40 * MIB), look(); }
static void killed(void) { to_the_peak(); }
static void aborted(void) { to_the_peak(); }
static void left(void) { to_the_peak(); }
static void executing(void) { to_the_peak(); }

static void end_without_a_word(const char *how)
{
    if (!strcmp(how, "killed"))
        raise(SIGKILL);
    if (!strcmp(how, "aborted"))
        abort();
    if (!strcmp(how, "left"))
        syscall(SYS_exit_group, 0);
    if (!strcmp(how, "executing"))
        execl("/bin/true", "true", (char *)NULL);
}

/* Anything, by the seed. */
static void at_random(void)
{
    for (int step = 0; step < 40; step++) {
        int before = blocks;
        switch (draw(6)) {
        case 0: fill(take, 16 + draw(300), (1 + draw(20)) * MIB); break;
        case 1: fill(take, 1 + draw(300) * KIB, (1 + draw(20)) * MIB); break;
        case 2: fill(take_zeroed, 16 + draw(9000), (1 + draw(10)) * MIB); break;
        case 3: shuffle(0), drop_from(before - draw(before + 1), 1); break;
        case 4: drop_from(before - draw(before + 1), draw(2)), draw(2) ? malloc_trim(0) : pin(); break;
        case 5: churn(draw(300000)); break;
        }
        if (live > 150 * (long)MIB)
            drop_from(0, 1);
        look();
    }
}

static const struct { const char *name; void (*run)(void); } shapes[] = {
#define SHAPE(name) {#name, name}
    SHAPE(pinned), SHAPE(pinned_downwards), SHAPE(pinned_at_random), SHAPE(pinned_zeroed), SHAPE(pinned_aligned),
    SHAPE(trimmed), SHAPE(untrimmed), SHAPE(trimmed_by_hand), SHAPE(mapped_blocks), SHAPE(large_unmapped), SHAPE(small),
    SHAPE(tiny), SHAPE(tiny_kept), SHAPE(churn_before), SHAPE(churn_after), SHAPE(churn_below), SHAPE(churn_kept),
    SHAPE(rounds),
    SHAPE(rounds_rising), SHAPE(rounds_falling), SHAPE(half_then_large), SHAPE(resized_up), SHAPE(resized_down),
    SHAPE(late_touched), SHAPE(mapping), SHAPE(stack), SHAPE(in_threads), SHAPE(across_threads), SHAPE(after_threads),
    SHAPE(before_threads), SHAPE(before_stacks), SHAPE(mapping_after_untouched), SHAPE(mapping_after_kept),
    SHAPE(data_segment), SHAPE(two_moments), SHAPE(reserved), SHAPE(untouched_heap), SHAPE(of_no_bytes), SHAPE(at_random),
};
/* These are not in the list. */
static const struct { const char *name; void (*run)(void); } ends[] = {
    SHAPE(killed), SHAPE(aborted), SHAPE(left), SHAPE(executing),
};

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "list";
    state += 0x9e3779b97f4a7c15u * number(argc, argv, 2, 0);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (!strcmp(name, "list"))
            dprintf(1, "%s\n", shapes[i].name);
        else if (!strcmp(name, shapes[i].name))
            shapes[i].run();
    }
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!strcmp(name, ends[i].name))
            ends[i].run();
    long most = 0, best = 0;
    for (int i = 0; i < looks; i++)
        most = looked[i].kb > most ? looked[i].kb : most;
    long grain = most / 100 > 256 ? most / 100 : 256;
    for (int i = 0; i < looks; i++)
        if (looked[i].kb >= most - grain && looked[i].live > best && looked[i].live <= looked[i].kb * 1024)
            best = looked[i].live;
    char line[200]; /* stdio would take a buffer */
    int length = snprintf(line, sizeof line, "shape=%s peak_kb=%ld live_bytes=%ld\n", name, most, best);
    int code = !looks || write(1, line, length) == length ? 0 : 1;
    end_without_a_word(name);
    return code;
}
