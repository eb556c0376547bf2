/* Functions whose frame pointer is a register like any: null, the address of something on the stack that looks like a
 * frame, or whatever was there. Each block has a size of its own, from 100000 on. Compiled with and without unwind
 * tables; without, no stack may name who is not there. */
#include <alloca.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noipa, noinline))

struct frame {
    void *next;
    void *back;
    long count;
};

static volatile int zero;
static void *volatile keep;
static long (*volatile hook)(long);
static void (*volatile ender)(long);
static jmp_buf out;
static long size = 100000;

/* Right behind the code that the program begins with. */
APART __attribute__((no_reorder)) void *first(void) { return (char *)malloc(size++) + zero; }

APART static long leaf(long number) { return number + zero; }
APART __attribute__((cold)) static void note(void) { zero = 0; }
APART static void never(void) { keep = 0; }
APART static void elsewhere(void) { keep = 0; never(); note(); }

/* Where elsewhere goes on behind its first call: what a return address there would be. */
static void *behind_a_call(void)
{
    const unsigned char *at = (const unsigned char *)elsewhere;
    for (int i = 0; i < 64; i++) {
        int distance;
        memcpy(&distance, at + i + 1, sizeof distance);
        if (at[i] == 0xe8 && at + i + 5 + distance == (const unsigned char *)never)
            return (void *)(at + i + 5);
    }
    return (void *)(at + 20);
}

/* Inlined, so that who calls it is who calls malloc. */
__attribute__((always_inline)) static inline void block(void) { keep = malloc(size++); free(keep); }

/* Never returns: what lies behind it is another's. */
APART __attribute__((cold, noreturn)) static void die(long number)
{
    char *text = malloc(size++);
    text[0] = number;
    free(text);
    longjmp(out, 1);
}

/* Left by a jump through a register. */
APART static long dispatch(long one, long other) { block(); return hook(one + other); }
APART static long check(long one, long other)
{
    block();
    if (!keep)
        die(one);
    return hook(one + other);
}
/* A callee in the middle of the loop: whatever counts it lies in a register that calls preserve, and first is null. */
APART static long with_null(long one, long other)
{
    long sum = (long)first();
    for (long i = 0; i < 2; i++)
        sum += dispatch(one, other) + check(one, other) + (long)first() + one + other;
    return sum;
}
APART static long with_a_frame(struct frame *frame)
{
    return dispatch(1, (long)frame) + check(1, (long)frame) + (long)first() + frame->count;
}

/* Left by nothing. */
APART static void loop(long one, long other)
{
    for (;;) {
        block();
        one += other;
        if (size > 100300)
            exit(one & zero);
    }
}

/* Beside the rare part of a function that keeps a frame pointer. */
APART static long rarely(long bytes, struct frame *frame)
{
    void *room = malloc(size++);
    if (!room)
        abort();
    keep = room;
    frame->count += bytes;
    free(room);
    return frame->count;
}
APART static long keeping(long bytes)
{
    char *room = alloca(bytes);
    memset(room, 1, bytes);
    if (__builtin_expect(zero, 0)) {
        note();
        room[0]++;
    }
    keep = room;
    block();
    if (bytes > 72)
        ender(bytes);
    if (bytes > 70)
        die(bytes);
    return room[1] + zero + check(bytes, zero);
}

/* Of the kind that return for a warning, and never for an error, after which the caller says so. */
APART static void finish(long level)
{
    note();
    if (level >= 20)
        longjmp(out, 1);
}
APART __attribute__((cold, noreturn)) static void fail(long number)
{
    char *text = malloc(size++);
    text[0] = number;
    keep = text;
    finish(20);
    __builtin_unreachable();
}
APART static long keeping_too(long bytes)
{
    char *room = alloca(bytes);
    memset(room, 1, bytes);
    keep = room;
    if (__builtin_expect(zero, 0)) {
        note();
        room[0]++;
    }
    keep = room;
    if (__builtin_expect(!zero, 0))
        fail(bytes);
    return room[1] + zero;
}

/* Its caller's stack pointer is not right above its frame pointer: what is aligned better than the stack, and room. */
APART static int compare(const void *one, const void *other)
{
    double aligned[8] __attribute__((aligned(64)));
    int a = *(const int *)one, b = *(const int *)other;
    char *room = alloca(8 + (a & 31));
    keep = aligned;
    keep = room;
    block();
    return a - b;
}
static void sort(void)
{
    int numbers[] = { 5, 3, 8, 1 };
    qsort(numbers, 4, sizeof *numbers, compare);
}

/* Goes from frame to frame by a register. */
APART static long walk(struct frame *frame, struct frame *last, long one, long other, long third)
{
    while (frame != last) {
        block();
        frame = frame->next;
        one += other;
        other ^= third;
    }
    return one + other + third;
}
#define FRAMED APART __attribute__((optimize("no-omit-frame-pointer")))
static struct frame *volatile outermost;
FRAMED static long innermost(long one) { return walk(__builtin_frame_address(0), outermost, one, 1, 2) + zero; }
FRAMED static long middle(long one) { return innermost(one) + zero; }
FRAMED static long outer(long one)
{
    outermost = __builtin_frame_address(0);
    return middle(one) + zero;
}

APART static long round_of(long turn)
{
    sort();
    if (!setjmp(out))
        keeping_too(64 + turn);
    volatile struct frame frame = { (void *)&frame, behind_a_call(), turn };
    long sum = with_a_frame((struct frame *)&frame);
    sum += rarely(turn, (struct frame *)&frame);
    if (!setjmp(out))
        sum += keeping(64 + turn);
    return sum + with_null(0, 0);
}

#ifdef LIBRARY
int rounds(void)
#else
int main(void)
#endif
{
    hook = leaf;
    ender = die;
    long sum = with_null(0, 0) + outer(0);
    elsewhere();
    for (int turn = 0; turn < 10; turn++)
        sum += round_of(turn);
    loop(sum, 0);
}
