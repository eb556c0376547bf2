/* Everything that could make a kept stack lie: `stackfuzz [seed=1] [turns=20000] [technique,technique,...]`.
 *
 * A run goes down by techniques chosen at random, each of which makes frames of its own kind and goes on: jumps, exceptions,
 * frames of every shape, libc's callbacks, coroutines, signals, threads, libraries and code made at run time. At every turn
 * it allocates, reallocates or frees. Same seed, same choices; only the timer's signals come when they come. Without names all
 * techniques but those that must be asked for. Prints the state of its random numbers
 * and how many libraries lay where another had been; exits 0.
 *
 * The sizes of some blocks say what their stacks are, so that a test needs no second recorder: stackfuzz.h.
 */
#define _GNU_SOURCE
#include "stackfuzz.h"
#include <stdio.h>
#include <string.h>
#include <unwind.h>

enum { MOST = 64, RESERVE = 24 * 1024 };
static const struct choice *const tables[] = {frame_entries, assembly_entries, jump_entries, libc_entries,
                                             stack_entries, signal_entries,  code_entries};
static struct choice chosen[MOST], stepped[MOST];
static unsigned count, weights, pure_count;
__thread volatile int may_allocate;

struct trace {
    uint64_t hash;
    int frames;
};

static _Unwind_Reason_Code trace_frame(struct _Unwind_Context *context, void *argument)
{
    struct trace *t = argument;
    int is_exact = 0;
    uint64_t at = _Unwind_GetIPInfo(context, &is_exact);
    if (t->frames++ && at) { /* the first is told_block, at another call than malloc's */
        t->hash = (t->hash ^ at ^ (uint64_t)is_exact << 63) * 0x9E3779B97F4A7C15;
        t->hash ^= t->hash >> 29;
    }
    return _URC_NO_REASON;
}

SITE static void told_block(void)
{
    struct trace t = {0, 0};
    _Unwind_Backtrace(trace_frame, &t);
    free(keep(malloc(TOLD_SIZE + (t.hash >> 49))));
}

SITE static void spin(struct fuzz *f)
{
    may_allocate = 1;
    for (volatile int i = below(f, 200); i > 0; i--)
        ;
    may_allocate = 0;
}

SITE void turn(struct fuzz *f)
{
    void **block = &f->blocks[below(f, BLOCKS)];
    size_t size = 1 + below(f, 900);
    if (--f->left % 64 == 0)
        signals_soon(1);
    if (f->marked) {
        free(keep(malloc(f->marked)));
        return;
    }
    switch (below(f, 10)) {
    case 0: told_block(); return;
    case 1: *block = keep(realloc(*block, size)); return;
    case 2: free(*block); *block = keep(calloc(1, size)); return;
    case 3: spin(f); return;
    case 4: free(*block); *block = NULL; return;
    default: free(*block); *block = keep(malloc(size));
    }
}

SITE void leave(struct fuzz *f)
{
    switch (below(f, 24)) {
    case 0:
        if (f->now.points)
            jump(f);
        break;
    case 1:
        if (f->now.catchers)
            throw_something(f);
        break;
    case 2: case 3: case 4:
        if (f->now.coroutine)
            yield(f->now.coroutine);
    }
}

static technique *choose(struct fuzz *f)
{
    unsigned at = below(f, weights), i = 0;
    for (; at >= chosen[i].weight; i++)
        at -= chosen[i].weight;
    return chosen[i].run;
}

technique *pure(struct fuzz *f)
{
    return pure_count ? stepped[below(f, pure_count)].run : NULL;
}

SITE void go(struct fuzz *f, int depth)
{
    if (f->is_stepped)
        return;
    do {
        turn(f);
        if (f->left <= 0 || depth <= 0 || (char *)__builtin_frame_address(0) - f->now.stack_low < RESERVE)
            break;
        choose(f)(f, depth - 1);
    } while (below(f, 8) == 0);
    turn(f);
    leave(f);
    turn(f);
}

void begin(struct fuzz *f, uint64_t seed, long amount, size_t room)
{
    memset(f, 0, sizeof *f);
    f->random = seed * 0xD1342543DE82EF95;
    f->left = amount;
    f->now.stack_low = (char *)__builtin_frame_address(0) - room;
}

void finish(struct fuzz *f)
{
    for (int i = 0; i < BLOCKS; i++)
        free(f->blocks[i]);
}

struct limits bar(struct fuzz *f)
{
    struct limits was = f->now;
    f->now.points = NULL;
    f->now.catchers = 0;
    f->now.coroutine = NULL;
    return was;
}

/* Whether a list without blanks has this name. */
static int lists(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ','))
            return 1;
    return 0;
}

static void choose_techniques(const char *list)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct choice *e = tables[t]; e->run && count < MOST; e++) {
            if (e->flags & PURE)
                stepped[pure_count++] = *e;
            if (list ? !lists(list, e->name) : e->flags & ASKED)
                continue;
            chosen[count++] = *e;
            weights += e->weight;
        }
}

static void at_end(void)
{
    struct fuzz f;
    begin(&f, 1, 20, 1 << 20);
    go(&f, 6);
    finish(&f);
}

int main(int argc, char **argv)
{
    struct fuzz f;
    choose_techniques(argc > 3 ? argv[3] : NULL);
    if (!count)
        return 2;
    begin(&f, number(argc, argv, 1, 1), number(argc, argv, 2, 20000), 4 << 20);
    f.now.has_alternate = 1;
    signals_of_thread(1);
    signals_begin();
    atexit(at_end);
    while (f.left > 0)
        go(&f, 1 + below(&f, below(&f, 16) ? 32 : 200));
    signals_soon(0);
    finish(&f);
    printf("%016llx, %ld libraries where another was\n", (unsigned long long)f.random, replaced);
    return 0;
}
