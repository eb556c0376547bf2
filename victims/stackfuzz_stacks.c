/* stackfuzz: coroutines on every kind of memory, left in the middle, resumed by other threads; threads on the stacks of
 * threads that ended.
 */
#define _GNU_SOURCE
#include "stackfuzz.h"
#include <alloca.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK = 64 * 1024, THREAD_STACK = 512 * 1024 };

struct coroutine {
    struct fuzz f;
    int depth, has_ended, is_switched; /* by sf_switch, or else by swapcontext */
    void *mine, *resumers;             /* stack pointers */
    ucontext_t context, resumer;
};

#ifdef __x86_64__
void sf_switch(void **mine, void *theirs);
void sf_start(void);
enum { HAS_SWITCH = 1 };
#else
static void sf_switch(void **mine, void *theirs) { (void)mine, (void)theirs; }
enum { HAS_SWITCH = 0 };
#endif

SITE void yield(struct coroutine *c)
{
    if (c->is_switched)
        sf_switch(&c->mine, c->resumers);
    else
        swapcontext(&c->context, &c->resumer);
}

SITE static void resume(struct coroutine *c)
{
    if (c->has_ended)
        return;
    if (c->is_switched)
        sf_switch(&c->resumers, c->mine);
    else
        swapcontext(&c->resumer, &c->context);
}

static void routine(struct coroutine *c)
{
    while (c->f.left > 0)
        go(&c->f, c->depth);
    c->has_ended = 1;
    for (;;)
        yield(c);
}

static void routine_of_halves(unsigned high, unsigned low)
{
    routine((struct coroutine *)((uintptr_t)high << 32 | low));
}

static void prepare_context(struct coroutine *c, char *stack)
{
    getcontext(&c->context);
    c->context.uc_stack.ss_sp = stack;
    c->context.uc_stack.ss_size = STACK;
    makecontext(&c->context, (void (*)(void))routine_of_halves, 2, (unsigned)((uintptr_t)c >> 32), (unsigned)(uintptr_t)c);
}

#ifdef __x86_64__
/* What sf_switch pops: r15, r14, r13, r12, rbx, rbp, and where it returns to; then sp is as before a call. */
static void prepare_switch(struct coroutine *c, char *stack)
{
    void *const popped[] = {NULL, NULL, NULL, c, (void *)routine, NULL, (void *)sf_start};
    c->mine = (void *)((((uintptr_t)stack + STACK) & -16) - 72);
    memcpy(c->mine, popped, sizeof popped);
}
#endif

static void prepare(struct fuzz *f, struct coroutine *c, int depth, char *stack)
{
    begin(&c->f, below(f, 1u << 30), 6 + below(f, 20), 0);
    c->f.level = f->level + 1;
    c->f.now.coroutine = c;
    c->f.now.stack_low = stack;
    c->depth = depth < 8 ? depth : 8;
    c->has_ended = 0;
    c->is_switched = HAS_SWITCH && below(f, 2);
#ifdef __x86_64__
    if (c->is_switched)
        return prepare_switch(c, stack);
#endif
    prepare_context(c, stack);
}

static void *resuming_thread(void *argument)
{
    struct coroutine *c = argument;
    for (int i = 0; i < 3; i++)
        resume(c);
    return NULL;
}

static void on_thread(void *(*start)(void *), void *argument)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, THREAD_STACK);
    if (!pthread_create(&thread, &attributes, start, argument))
        pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

/* Takes turns with it, and leaves it where it happens to be: half of them never end. */
SITE static void take_turns(struct fuzz *f, int depth, char *stack)
{
    if (f->level > 1)
        return go(f, depth);
    struct limits was = bar(f);
    struct coroutine *c = malloc(sizeof *c);
    prepare(f, c, depth, stack);
    for (unsigned i = 1 + below(f, 8); i > 0; i--) {
        if (below(f, 32) == 0)
            on_thread(resuming_thread, c);
        else
            resume(c);
        go(f, depth < 2 ? depth : 2);
    }
    finish(&c->f);
    free(c);
    f->now = was;
}

/* As often as not where another stack was just unmapped. */
SITE static void on_mapped(struct fuzz *f, int depth)
{
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 1 + below(f, 3); i > 0; i--) {
        take_turns(f, depth, stack);
        munmap(stack, STACK);
        stack = mmap(stack, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    munmap(stack, STACK);
}

SITE static void on_block(struct fuzz *f, int depth)
{
    struct limits was = bar(f);
    char *stack = malloc(STACK);
    take_turns(f, depth, stack);
    free(stack);
    f->now = was;
}

struct lent {
    struct fuzz *f;
    int depth;
    char *stack;
};

static void *borrowing_thread(void *argument)
{
    struct lent *lent = argument;
    int alternate = lent->f->now.has_alternate;
    char *low = lent->f->now.stack_low;
    lent->f->now.has_alternate = 0;
    lent->f->now.stack_low = (char *)__builtin_frame_address(0) - THREAD_STACK + 32 * 1024;
    take_turns(lent->f, lent->depth, lent->stack);
    lent->f->now.has_alternate = alternate;
    lent->f->now.stack_low = low;
    return NULL;
}

/* In this frame: for this thread, or for another one. */
SITE static void on_own_frame(struct fuzz *f, int depth)
{
    char *here = __builtin_frame_address(0);
    if (here - f->now.stack_low < 4 * STACK) {
        go(f, depth);
        return;
    }
    struct limits was = bar(f);
    struct lent lent = {f, depth, keep(alloca(STACK))};
    if (below(f, 8) == 0)
        on_thread(borrowing_thread, &lent);
    else
        take_turns(f, depth, lent.stack);
    f->now = was;
}

struct started {
    struct fuzz f;
    int depth;
    uint64_t seed;
};

static void *thread(void *argument)
{
    struct started *s = argument;
    begin(&s->f, s->seed, 20, THREAD_STACK - 32 * 1024);
    s->f.level = 1;
    s->f.now.has_alternate = 1;
    signals_of_thread(1);
    go(&s->f, s->depth);
    signals_of_thread(0);
    finish(&s->f);
    return NULL;
}

/* Two, beside each other, whose stacks the next ones will have. */
SITE static void threads(struct fuzz *f, int depth)
{
    struct limits was = bar(f);
    struct started both[2];
    pthread_t ids[2];
    pthread_attr_t attributes;
    int made[2];
    if (f->level)
        return go(f, depth);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, THREAD_STACK);
    for (int i = 0; i < 2; i++) {
        both[i].depth = depth < 10 ? depth : 10;
        both[i].seed = below(f, 1u << 30);
        made[i] = !pthread_create(&ids[i], &attributes, thread, &both[i]);
    }
    go(f, depth < 3 ? depth : 3);
    for (int i = 0; i < 2; i++)
        if (made[i])
            pthread_join(ids[i], NULL);
    pthread_attr_destroy(&attributes);
    f->now = was;
}

const struct choice stack_entries[] = {
    {"mapped", on_mapped, 6, 0}, {"block", on_block, 6, 0}, {"own", on_own_frame, 6, 0}, {"threads", threads, 2, 0},
    {NULL, NULL, 0, 0},
};
