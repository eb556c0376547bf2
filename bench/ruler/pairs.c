/* malloc+free pairs on chosen stacks: `pairs PATTERN DEPTH PAIRS [THREADS=1]`, or `pairs count PATTERN DEPTH PAIRS`.
 *
 * Prints the thread CPU time of the measured pairs only, in nanoseconds: unless they are few, an eighth as many or more
 * warm up before them. `count` allocates nothing: it goes through the same stacks, warm-up included, and prints how
 * many differ, their frames in a tree, and how many frames are fresh from one to the next, by comparing whole paths.
 * VARIETY has stacks of every depth, and 50,000 times as many as DEPTH says. WALK:STACKS strolls among as many stacks
 * as it says, after each was met once in the warm-up.
 */
#define _GNU_SOURCE
#include "walk.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { LEAF = CHOICES, ROOTS = 8, THREADS = 8, WARM = 20000, WALK_WARM = 300000, VARIETY_STACKS = 50000,
       TABLE = 1 << 21, MOST_LEVELS = 10 };
static unsigned char roots[ROOTS][DEEPEST];
static const size_t sizes[4] = {24, 48, 96, 200};
/* 12 allocations of a loop's body, by what the last six levels choose: 2.4 fresh frames from one to the next. */
static const char loop[12][6] = {"020021", "020010", "020210", "020212", "000211", "000210",
                                 "000220", "002202", "002201", "002222", "002221", "002210"};

static uint64_t draw(uint64_t *random)
{
    *random ^= *random << 13, *random ^= *random >> 7, *random ^= *random << 17;
    return *random;
}

/* The first level at which the new choices differ; the leaf if none does. */
static int set(struct walk *w, int from, const unsigned char *choices)
{
    int fork = w->last;
    for (int level = w->last; level >= from; level--) {
        if (w->choice[level] != choices[level - from])
            fork = level;
        w->choice[level] = choices[level - from];
    }
    return fork;
}

static int same(struct walk *w) { return w->last; }

static int in_loop(struct walk *w)
{
    unsigned char tail[6];
    for (int i = 0; i < 6; i++)
        tail[i] = loop[w->index][i] - '0';
    w->index = w->index == 11 ? 0 : w->index + 1;
    return set(w, w->last - 5, tail);
}

/* New choices for the last levels: seldom many, often few. */
static int stroll(struct walk *w, unsigned choices)
{
    unsigned char tail[8];
    int levels = w->often[w->random >> 58];
    for (int i = 0; i < levels; i++)
        tail[i] = (w->random >> (8 + 5 * i) & 31) * choices >> 5;
    return set(w, w->last + 1 - levels, tail);
}
static int near(struct walk *w) { return stroll(w, 3); }
static int walk(struct walk *w) { return stroll(w, CHOICES); }

/* The last levels choose as the digits of a number of the base 4, the stack's. */
static int choose(struct walk *w, long stack)
{
    unsigned char tail[MOST_LEVELS];
    for (int i = w->levels; i-- > 0; stack /= CHOICES)
        tail[i] = stack % CHOICES;
    return set(w, w->last + 1 - w->levels, tail);
}

/* WALK among a stated number of stacks. By chance alone some of them would not be met for long: so all come in turn
 * first, far from each other. */
static int bounded(struct walk *w)
{
    if (w->met < w->stacks) {
        w->met++;
        w->index = (w->index + 7919) % w->stacks;
    } else {
        long places = 1l << 2 * w->often[w->random >> 58], first = w->index / places * places;
        long room = w->stacks - first < places ? w->stacks - first : places;
        w->index = first + ((w->random >> 8 & 0xffffffff) * room >> 32);
    }
    return choose(w, w->index);
}

/* The roots of two that follow each other differ, so every frame is new. */
static int root(struct walk *w)
{
    w->index = (w->index + 1) % ROOTS;
    return set(w, 0, roots[w->index]);
}

/* Stacks of depth 10 to 60, each visited once in so many steps. */
static int variety(struct walk *w)
{
    uint64_t random = w->index = (w->index + 7919) % w->stacks;
    random = (random + 1) * 0x9e3779b97f4a7c15;
    draw(&random);
    int before = w->last, fork = -1;
    w->last = 9 + (draw(&random) >> 32) % 51;
    for (int level = 0; level <= w->last; level++) {
        if (level % 16 == 0)
            draw(&random);
        unsigned char choice = random >> (8 + 2 * (level % 16)) & 3;
        if (fork < 0 && (level > before || w->choice[level] != choice))
            fork = level;
        w->choice[level] = choice;
    }
    fork = fork < 0 ? w->last : fork;
    return fork < before ? fork : before;
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* Adds what the clocks say, with a sign: minus at the start, plus at the end. */
static void take_time(struct walk *w, int sign)
{
    struct rusage used;
    getrusage(RUSAGE_THREAD, &used);
    w->kernel += sign * (used.ru_stime.tv_sec * 1000000000ll + used.ru_stime.tv_usec * 1000ll);
    w->wall += sign * clock_ns(CLOCK_MONOTONIC);
    w->cpu += sign * clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void next_stack(struct walk *w)
{
    if (__builtin_expect(--w->left == 0, 0)) {
        take_time(w, w->phase ? 1 : -1);
        w->left = w->pairs;
        if (w->phase++) {
            w->fork = -1;
            return;
        }
    }
    w->size = sizes[draw(&w->random) & 3];
    w->fork = w->step(w);
}

/* How many levels a step chooses anew: each number is `ratio` times as frequent as the one before. */
static void frequencies(struct walk *w, int most, double ratio)
{
    double total = 0, weight = 1, sum = 0;
    for (int levels = 1; levels <= most; levels++, weight *= ratio)
        total += weight;
    weight = 1;
    for (int levels = 1, place = 0; levels <= most; levels++, weight *= ratio) {
        sum += weight;
        while (place < 64 && place < sum / total * 64 - .5)
            w->often[place++] = levels;
    }
    for (int place = 0; place < 64; place++)
        w->often[place] = w->often[place] ? w->often[place] : most;
}

static const struct pattern {
    const char *name;
    int (*step)(struct walk *);
    int most;
    double ratio;
} patterns[] = {{"SAME", same, 0, 0},     {"LOOP", in_loop, 0, 0}, {"NEAR", near, 6, .57},
                {"WALK", walk, 8, .805}, {"ROOT", root, 0, 0},    {"VARIETY", variety, 0, 0}};
static const char stated[] = "WALK:";

static int begin(struct walk *w, const char *name, int depth, long pairs)
{
    memset(w, 0, sizeof *w);
    w->last = depth - 1;
    w->stacks = (long)depth * VARIETY_STACKS;
    w->pairs = pairs;
    w->left = 1 + (pairs < WARM ? 0 : pairs / 8 > WARM ? pairs / 8 : WARM);
    w->random = 88172645463325252;
    w->size = sizes[0];
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (!strcmp(name, patterns[i].name)) {
            w->step = patterns[i].step;
            frequencies(w, patterns[i].most, patterns[i].ratio);
        }
    if (!strncmp(name, stated, sizeof stated - 1)) {
        w->step = bounded;
        w->stacks = atol(name + sizeof stated - 1);
        while (1l << 2 * w->levels < w->stacks)
            w->levels++;
        if (w->levels < 1 || w->levels > MOST_LEVELS || w->levels > depth)
            return 0;
        frequencies(w, w->levels, .805);
        w->met = pairs < WARM ? w->stacks : 0;
        if (pairs >= WARM && w->left <= w->stacks)
            w->left = 1 + w->stacks;
    }
    if (w->step == walk && pairs >= WARM && w->left < WALK_WARM)
        w->left = WALK_WARM;
    uint64_t random = 2463534242;
    for (int i = 0; i < ROOTS; i++)
        for (int level = 0; level < DEEPEST; level++)
            roots[i][level] = level ? draw(&random) >> 32 & 3 : i & 3;
    memcpy(w->choice, roots[0], sizeof w->choice);
    memset(w->choice + (depth > 6 ? depth - 6 : 0), 0, 6); /* LOOP and NEAR know three choices */
    if (w->step == bounded)
        choose(w, 0);
    if (w->step == variety)
        w->step(w), w->left = 1;
    else if (w->step)
        w->step(w);
    int lowest = w->step == in_loop || w->step == near ? 6 : w->step == walk ? 8 : 1;
    return w->step && depth >= lowest && depth <= DEEPEST && pairs > 0;
}

/* Whether the path of this hash is met for the first time; 64 bits do not collide by chance. */
static int is_new(const struct walk *w, uint64_t hash)
{
    static uint64_t *seen;
    size_t size = w->step == variety ? w->stacks / VARIETY_STACKS * TABLE : 2 * TABLE;
    if (!seen)
        seen = mmap(NULL, size * sizeof *seen, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (seen == MAP_FAILED)
        abort();
    size_t place = hash % size;
    while (seen[place] && seen[place] != hash)
        place = (place + 1) % size;
    int new = !seen[place];
    seen[place] = hash;
    return new;
}

/* Prints without stdio, which allocates. */
static int say(const char *format, long a, long b, long c, long d)
{
    char line[200];
    int length = snprintf(line, sizeof line, format, a, b, c, d);
    return write(1, line, length) != length;
}

static int count(struct walk *w)
{
    unsigned char before[DEEPEST] = {0}, path[DEEPEST];
    long distinct = 0, nodes = 0, fresh = 0, steps = 0;
    for (w->fork = 0; w->fork >= 0; steps++, next_stack(w)) {
        int depth = w->last + 1, as_before = 0;
        uint64_t hash[DEEPEST + 1] = {14695981039346656037u};
        memcpy(path, w->choice, depth);
        path[depth - 1] |= LEAF;
        for (int level = 0; level < depth; level++)
            hash[level + 1] = (hash[level] ^ path[level]) * 1099511628211u ^ hash[level] >> 47;
        while (as_before < depth && before[as_before] == path[as_before])
            as_before++;
        fresh += steps ? depth - as_before : 0;
        memcpy(before, path, depth);
        int levels = depth;
        if (is_new(w, hash[levels]))
            for (distinct++, nodes++; --levels > 0 && is_new(w, hash[levels]); nodes++)
                ;
    }
    return say("steps=%ld distinct=%ld nodes=%ld fresh_thousandths=%ld\n", steps, distinct, nodes,
               steps > 1 ? 1000 * fresh / (steps - 1) : 0);
}

static pthread_barrier_t barrier;
static void *work(void *argument)
{
    pthread_barrier_wait(&barrier);
    f0_0(argument, 0);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct walk walks[THREADS];
    int counting = argc > 1 && !strcmp(argv[1], "count");
    argc -= counting, argv += counting;
    int threads = argc > 4 ? atoi(argv[4]) : 1;
    if (argc < 4 || threads < 1 || threads > THREADS)
        return dprintf(2, "usage: pairs [count] PATTERN DEPTH PAIRS [THREADS]\n"), 2;
    for (int i = 0; i < threads; i++)
        if (!begin(&walks[i], argv[1], atoi(argv[2]), atol(argv[3])))
            return dprintf(2, "pairs: no such pattern, or too deep or flat for it\n"), 2;
    if (counting)
        return count(&walks[0]);
    if (threads == 1) {
        f0_0(&walks[0], 0);
    } else {
        pthread_t made[THREADS];
        pthread_barrier_init(&barrier, NULL, threads);
        for (int i = 0; i < threads; i++)
            if (pthread_create(&made[i], NULL, work, &walks[i]))
                return 1;
        for (int i = 0; i < threads; i++)
            pthread_join(made[i], NULL);
    }
    int64_t cpu = 0, kernel = 0, wall = 0;
    for (int i = 0; i < threads; i++)
        cpu += walks[i].cpu, kernel += walks[i].kernel, wall = walks[i].wall > wall ? walks[i].wall : wall;
    return say("pairs=%ld cpu_ns=%ld kernel_ns=%ld wall_ns=%ld\n", walks[0].pairs * threads, cpu, kernel, wall);
}
