/* Blocks whose truth is known: `known mix SEED STEPS THREADS`, `known killed SEED STEPS`,
 * `known many STEPS`, `known alike STEPS`, `known chains`, `known names`, `known pieces GOES`,
 * `known fork`, `known wraps`, `known aligned`. `chains`, `names`, `wraps` and `aligned` print what
 * they did, one line a fact; SITE functions are named in those lines. */
#include "../../victims/victim.h"
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 512, THREADS = 8 };
static _Atomic(void *) slots[SLOTS];
static long steps, seed;
static size_t too_much = PTRDIFF_MAX;

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static size_t some_size(uint64_t *state)
{
    switch (next_random(state) % 16) {
    case 0: return 0;
    case 1: return 200000 + next_random(state) % 100000;
    case 2: case 3: return next_random(state) % 5000;
    default: return next_random(state) % 100;
    }
}

SITE static void *make(uint64_t *state)
{
    size_t size = some_size(state);
    switch (next_random(state) % 8) {
    case 0: return keep(calloc(1, size));
    case 1: return keep(memalign(64, size));
    case 2: return keep(realloc(NULL, size));
    default: return keep(malloc(size));
    }
}

SITE static void *change(void *p, uint64_t *state)
{
    size_t size = some_size(state);
    if (next_random(state) % 16 == 0 && realloc(p, too_much))
        abort();
    if (size == 0) {
        free(p);
        return NULL;
    }
    return keep(realloc(p, size));
}

/* Any thread may get what any other made. */
static void *mix(void *arg)
{
    uint64_t state = (uint64_t)(seed * 100 + (long)arg);
    char name[16];
    snprintf(name, sizeof name, "mixer-%ld", (long)arg);
    pthread_setname_np(pthread_self(), name);
    for (long step = 0; step < steps; step++) {
        unsigned slot = next_random(&state) % SLOTS;
        void *p = atomic_exchange(&slots[slot], NULL);
        if (!p)
            p = make(&state);
        else if (next_random(&state) % 3 == 0)
            p = change(p, &state);
        else {
            free(p);
            p = NULL;
        }
        if (next_random(&state) % 8 == 0)
            free(make(&state));
        if (next_random(&state) % 64 == 0)
            usleep(next_random(&state) % 3000);
        free(atomic_exchange(&slots[slot], p));
    }
    return NULL;
}

static int mix_all(long threads)
{
    pthread_t list[THREADS];
    for (long i = 1; i < threads; i++)
        if (pthread_create(&list[i], NULL, mix, (void *)i))
            return 1;
    mix((void *)0);
    for (long i = 1; i < threads; i++)
        pthread_join(list[i], NULL);
    return 0;
}

/* As quick as it can be: what is wanted is a long log. */
SITE static int many(long count)
{
    uint64_t state = 7;
    for (long step = 0; step < count; step++) {
        unsigned slot = next_random(&state) % SLOTS;
        void *p = atomic_exchange(&slots[slot], keep(malloc(next_random(&state) % 3000)));
        free(p);
    }
    return 0;
}

/* All of a size and from a place; none stays. */
SITE static int alike(long count)
{
    for (long step = 0; step < count; step++)
        free(keep(malloc(24)));
    return 0;
}

/* A chain of reallocs as the program sees it. */
struct chain {
    long blocks, chains, longest, length;
    size_t size, last, outgrown, most;
};

static void begins(struct chain *c, size_t size)
{
    c->chains++;
    c->blocks++;
    c->length = 1;
    c->size = size;
    c->last += size;
    c->most = size > c->most ? size : c->most;
    c->longest = c->longest > 1 ? c->longest : 1;
}

static void moves(struct chain *c, size_t size)
{
    c->blocks++;
    c->length++;
    c->outgrown += c->size;
    c->last += size - c->size;
    c->size = size;
    c->most = size > c->most ? size : c->most;
    c->longest = c->longest > c->length ? c->longest : c->length;
}

static void tell(const char *name, const struct chain *c, long leaked)
{
    printf("chain %s chains=%ld blocks=%ld length=%ld bytes=%zu outgrown_bytes=%zu reserve_bytes=%zu leaked_chains=%ld\n",
           name, c->chains, c->blocks, c->longest, c->last, c->outgrown, c->most, leaked);
}

#define GROW(c, p, size) (p = keep(realloc(p, size)), moves(c, size))

SITE static void doubles(void)
{
    struct chain c = {0};
    char *p = keep(malloc(16));
    begins(&c, 16);
    for (size_t size = 32; size <= 4096; size *= 2)
        GROW(&c, p, size);
    free(p);
    tell("doubles", &c, 0);
}

SITE static void fails(void)
{
    struct chain c = {0};
    char *p = keep(malloc(100));
    begins(&c, 100);
    if (realloc(p, too_much))
        abort();
    free(keep(malloc(5)));
    GROW(&c, p, 200);
    if (realloc(p, too_much))
        abort();
    free(p);
    tell("fails", &c, 0);
}

SITE static void ends_at_zero(void)
{
    struct chain c = {0};
    char *p = keep(malloc(50));
    begins(&c, 50);
    GROW(&c, p, 60);
    if (keep(realloc(p, 0)))
        abort();
    keep(realloc(NULL, 44)); /* begins none, and is in none */
    tell("ends_at_zero", &c, 0);
}

SITE static void from_null(void)
{
    struct chain c = {0};
    char *p = keep(realloc(NULL, 70));
    begins(&c, 70);
    GROW(&c, p, 80);
    tell("from_null", &c, 1);
}

SITE static void shrinks(void)
{
    struct chain c = {0};
    char *p = keep(calloc(10, 100));
    begins(&c, 1000);
    GROW(&c, p, 500);
    GROW(&c, p, 500);
    p = keep(reallocarray(p, 10, 10));
    moves(&c, 100);
    free(p);
    tell("shrinks", &c, 0);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct chain pairs;

SITE static void *grows_pairs(void *arg)
{
    (void)arg;
    struct chain one = {0}, other = {0};
    char *p = keep(malloc(24)), *q = keep(malloc(48));
    begins(&one, 24);
    begins(&other, 48);
    for (size_t step = 2; step < 40; step++) {
        GROW(&one, p, 24 * step);
        free(keep(malloc(step)));
        GROW(&other, q, 48 * step);
        sched_yield();
    }
    free(q);
    free(p);
    pthread_mutex_lock(&lock);
    pairs.chains += 2;
    pairs.blocks += one.blocks + other.blocks;
    pairs.longest = one.longest;
    pairs.last += one.last + other.last;
    pairs.outgrown += one.outgrown + other.outgrown;
    pairs.most = other.most;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static struct chain handed_chain = {0};
static char *handed;

SITE static void *hands_over(void *arg)
{
    GROW(&handed_chain, handed, (size_t)arg);
    return NULL;
}

static int chains(void)
{
    pthread_t list[4];
    doubles();
    fails();
    ends_at_zero();
    from_null();
    shrinks();
    for (int i = 0; i < 4; i++)
        pthread_create(&list[i], NULL, grows_pairs, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(list[i], NULL);
    tell("grows_pairs", &pairs, 0);
    handed = keep(malloc(11));
    begins(&handed_chain, 11);
    for (long size = 22; size < 60; size += 11) {
        pthread_create(&list[0], NULL, hands_over, (void *)size);
        pthread_join(list[0], NULL);
    }
    free(handed);
    tell("hands_over", &handed_chain, 0);
    return 0;
}

SITE static void *leaf(size_t size)
{
    return keep(malloc(size)); /* @leaf */
}

SITE static void recurses(long depth)
{
    keep(malloc(10)); /* @recurses */
    if (depth > 0)
        recurses(depth - 1);
    else
        leaf(1000);
    __asm__ volatile("");
}

SITE static void odd_recursion(long depth);

SITE static void even_recursion(long depth)
{
    keep(calloc(2, 8));
    if (depth > 0)
        odd_recursion(depth - 1);
    __asm__ volatile("");
}

SITE static void odd_recursion(long depth)
{
    free(keep(malloc(7)));
    if (depth > 0)
        even_recursion(depth - 1);
    __asm__ volatile("");
}

SITE static int names(void)
{
    recurses(30);
    leaf(500);
    even_recursion(9);
    free(keep(malloc(77)));
    /* what each asked for, and with what it called */
    puts("function leaf bytes=1500 blocks=2 below_bytes=1500 below_blocks=2");
    puts("function recurses bytes=310 blocks=31 below_bytes=1310 below_blocks=32");
    puts("function even_recursion bytes=80 blocks=5 below_bytes=115 below_blocks=10");
    puts("function odd_recursion bytes=35 blocks=5 below_bytes=99 below_blocks=9");
    puts("function names bytes=77 blocks=1");
    return 0;
}

/* Small blocks of one function between larger ones of another, which go: the small
 * ones then hold every page by themselves. */
enum { PIECES = 4000 };

SITE static void *small_piece(void) { return keep(malloc(24)); }
SITE static void *large_piece(void) { return keep(malloc(1000)); }

static int pieces(int goes)
{
    static void *large[PIECES];
    for (int i = 0; i < PIECES; i++) {
        small_piece();
        large[i] = large_piece();
    }
    for (int i = 0; goes && i < PIECES; i++)
        free(large[i]);
    return 0;
}

/* Functions that only pass on: xmalloc by its name, grab for its many callers; the same
 * of release, which frees for many. */
SITE static void *xmalloc(size_t size)
{
    void *p = keep(malloc(size));
    if (!p)
        abort();
    return p;
}

SITE static void *grab(size_t size) { return touch(keep(xmalloc(size)), size); }

SITE static void release(void *p)
{
    free(p);
    __asm__ volatile("");
}

/* Each asks for so many blocks, keeps one of them, and frees the others. */
#define USER(name, size, count) \
    SITE static void name(void) \
    { \
        void *list[count]; \
        for (int i = 0; i < count; i++) \
            list[i] = keep(grab(size)); \
        for (int i = 1; i < count; i++) \
            release(list[i]); \
        printf("function " #name " bytes=%d blocks=%d leaked_blocks=1\n", size * count, count); \
        printf("freed " #name " bytes=%d blocks=%d\n", size * (count - 1), count - 1); \
    }
USER(reads, 100000, 9)
USER(parses, 120000, 8)
USER(sorts, 90000, 10)
USER(writes, 110000, 7)
USER(sends, 105000, 8)

SITE static int wraps(void)
{
    reads();
    parses();
    sorts();
    writes();
    sends();
    return 0;
}

SITE static int aligned(void)
{
    static const size_t sizes[] = {64, 256, 4096};
    void *p;
    for (int i = 0; i < 3; i++) {
        for (int count = 0; count <= i; count++)
            if (posix_memalign(&p, sizes[i], 1000))
                return 1;
        keep(aligned_alloc(sizes[i], sizes[i]));
        printf("alignment %zu bytes=%zu blocks=%d\n", sizes[i], 1000 * (i + 1) + sizes[i], i + 2);
    }
    keep(memalign(8192, 77));
    puts("alignment 8192 bytes=77 blocks=1");
    return 0;
}

static int forks(void)
{
    uint64_t state = 3;
    for (int i = 0; i < 200; i++)
        slots[i] = keep(malloc(next_random(&state) % 300));
    free(slots[0]);
    slots[0] = NULL;
    pid_t child = fork();
    if (child == 0)
        for (int i = 20; i < 60; i++) {
            free(slots[i]);
            slots[i + 200] = keep(malloc(500));
            slots[i + 40] = keep(realloc(slots[i + 40], 400));
            slots[i + 40] = keep(realloc(slots[i + 40], 600));
        }
    else
        waitpid(child, NULL, 0);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    steps = number(argc, argv, 3, 1000);
    seed = number(argc, argv, 2, 1);
    if (!strcmp(what, "mix"))
        return mix_all(number(argc, argv, 4, 1));
    if (!strcmp(what, "killed") && mix_all(2) == 0)
        raise(SIGKILL);
    if (!strcmp(what, "many"))
        return many(seed);
    if (!strcmp(what, "alike"))
        return alike(seed);
    if (!strcmp(what, "chains"))
        return chains();
    if (!strcmp(what, "names"))
        return names();
    if (!strcmp(what, "wraps"))
        return wraps();
    if (!strcmp(what, "aligned"))
        return aligned();
    if (!strcmp(what, "fork"))
        return forks();
    if (!strcmp(what, "pieces"))
        return pieces(number(argc, argv, 2, 0));
    return 2;
}
