/* What the parts of stackfuzz share: see stackfuzz.c. */
#ifndef STACKFUZZ_H
#define STACKFUZZ_H

#include "victim.h"
#include <setjmp.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fuzz;
struct coroutine;
typedef void technique(struct fuzz *f, int depth);

/* Sizes that tests read: what is known of a block's stack. */
enum {
    BLOCKS = 24,
    EITHER_SIZE = 59000, /* the timer's: it may have interrupted anything */
    CUT_SIZE = 60000,    /* code that no table describes cuts it */
    CROSSED_SIZE = 61000, /* it crosses such code by its frame pointers, as libgcc cannot */
    TOLD_SIZE = 80000,   /* and 15 bits more: the hash of its frames, as libgcc walks them */
};

/* What may be done here; saved where control may come back to by a jump. */
struct limits {
    struct point *points;        /* where a jump may go */
    int catchers;                /* functions further out that catch what is thrown */
    int has_alternate;           /* the thread's alternate stack is free */
    struct coroutine *coroutine; /* that may be left for the one that resumed it */
    char *stack_low;             /* how far down this stack may grow */
};

struct point {
    sigjmp_buf buffer;
    struct limits was;
};

/* A run of the fuzz, of one thread or of one coroutine. */
struct fuzz {
    uint64_t random;
    long left;      /* turns still to be taken */
    int is_stepped; /* the processor stops after each instruction: no calls into the allocator */
    size_t marked;  /* the size of all blocks here, below code that no table describes; else 0 */
    int level;      /* how many coroutines and threads lie between it and the program's own run */
    struct limits now;
    void *blocks[BLOCKS];
};

enum { PURE = 1, /* calls nothing but go: it can be stepped through */
       ASKED = 2 /* only where it is asked for by name */ };

struct choice {
    const char *name;
    technique *run;
    unsigned weight, flags;
};
extern const struct choice frame_entries[], assembly_entries[], jump_entries[], libc_entries[], stack_entries[], signal_entries[],
    code_entries[];

/* A number below `end`. */
static inline uint32_t below(struct fuzz *f, uint32_t end)
{
    uint64_t x = f->random += 0x9E3779B97F4A7C15;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return (uint32_t)((x ^ x >> 31) >> 32) % end;
}

/* What lies there is wanted until here. */
static inline void used(const volatile void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

void go(struct fuzz *f, int depth);   /* the next techniques, so many frames down at most */
void turn(struct fuzz *f);            /* one call or two of the allocator */
void leave(struct fuzz *f);           /* jumps, throws or yields, if it may and likes to */
technique *pure(struct fuzz *f);      /* a technique to be stepped through, or NULL */
void begin(struct fuzz *f, uint64_t seed, long amount, size_t room); /* a run on this very stack */
void finish(struct fuzz *f);
struct limits bar(struct fuzz *f);    /* forbids to leave what holds something; gives what was allowed before */
void throw_something(struct fuzz *f);
void jump(struct fuzz *f);
void yield(struct coroutine *c);
void signals_begin(void);             /* the handlers */
void signals_of_thread(int begins);   /* a thread's alternate stack */
void signals_soon(int is_wanted);     /* the timer's next signal */

extern long replaced;                      /* how often a library's code lay where another's had been */
extern __thread volatile int may_allocate; /* the timer's handler: malloc was not interrupted */

#ifdef __cplusplus
}
#endif
#endif
