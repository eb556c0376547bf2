/* Stacks that are deep, of frames of all sizes, left by returns and by longjmp, and taken again. */
#include "seen.h"
#include <alloca.h>
#include <setjmp.h>

static jmp_buf back;
static long sum;
static volatile int deeper = 1;

SITE static void *small(int depth)
{
    void *block = depth ? small(depth - 1) : seen();
    __asm__ volatile("" ::: "memory");
    return block;
}

/* A frame of a size known only when it runs. */
SITE static void *varied(int depth)
{
    char *room = alloca(16 + depth % 7 * 200);
    void *block;
    memset(room, depth, 16);
    block = depth % 3 == 0 ? seen() : malloc(20 + depth);
    if (depth)
        free(varied(depth - 1));
    sum += room[3];
    return block;
}

/* A frame too large for one instruction. */
SITE static void *large(int depth)
{
    volatile char room[70000];
    room[depth] = 1;
    room[69999] = 2;
    void *block = depth ? large(depth - 1) : seen();
    sum += room[depth] + room[69999];
    return block;
}

SITE static void jump(int depth)
{
    free(seen());
    if (depth == 0)
        longjmp(back, 1);
    if (deeper)
        jump(depth - 1);
    __asm__ volatile("" ::: "memory");
}

static int (*volatile compare_also)(const void *, const void *);

/* Called by the C library, from frames that are not ours. */
SITE static int compare(const void *left, const void *right)
{
    free(seen());
    return *(const int *)left - *(const int *)right;
}

int main(void)
{
    int numbers[12] = { 5, 3, 9, 1, 7, 11, 2, 8, 4, 10, 6, 0 };
    seen_begin();
    for (int depth = 0; depth < 150; depth += 11)
        free(small(depth));
    free(small(3000)); /* deeper than what backtrace() is asked for */
    free(varied(120));
    free(large(6));
    for (volatile int i = 0; i < 6; i++) {
        if (setjmp(back) == 0)
            jump(i * 5);
        free(small(i));
    }
    compare_also = compare;
    qsort(numbers, 12, sizeof *numbers, compare_also);
    say("sorted:", numbers[11]);
    say("sum:", sum);
    return 0;
}
