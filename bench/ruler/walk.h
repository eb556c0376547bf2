/* What the generated functions and the driver share: where on the stack to allocate, and which stack comes next. */
#ifndef WALK_H
#define WALK_H
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { DEEPEST = 64, CHOICES = 4 };

struct walk {
    unsigned char choice[DEEPEST + 8]; /* of each level: which call, at the last level which malloc */
    int last;                      /* the level that allocates */
    int fork;                      /* the level that goes on; deeper ones return, -1 ends the walk */
    size_t size;
    long left; /* pairs until the next phase */
    int phase;
    long pairs;
    uint64_t random;
    int (*step)(struct walk *);
    long index; /* of the step, where the pattern counts */
    long stacks; /* where it is of many */
    long met;    /* of them, where each comes once first */
    int levels;  /* the last ones, that make so many */
    unsigned char often[64];
    int64_t cpu, kernel, wall; /* nanoseconds of the measured loop */
};

typedef unsigned long level_function(struct walk *, int level);
level_function f0_0;
/* Called after each pair, from the place that made it. */
void next_stack(struct walk *);

/* Neither inlined nor copied: a frame in the source is a frame on the stack. */
#if defined(__has_attribute) && __has_attribute(noipa)
#define KEEP __attribute__((noipa))
#else
#define KEEP __attribute__((noinline))
#endif
#define USED(array) __asm__ volatile("" : : "r"(array) : "memory")
/* The marks keep the compiler from merging the calls of one function. */
#define PAIR(mark)                                             \
    do {                                                       \
        void *block = malloc(w->size);                         \
        __asm__ volatile("# " mark : "+r"(block) : : "memory"); \
        free(block);                                           \
        __asm__ volatile("# after " mark : : : "memory");      \
        next_stack(w);                                         \
    } while (0)
#endif
