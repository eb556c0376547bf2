/* longjmp out of frames that hold blocks, from every depth up to 500, and in again at once: whoever expects each call to
 * return counts wrong. */
#include "../torture.h"
#include <setjmp.h>

static void *blocks[501];

__attribute__((noipa)) static void leave(jmp_buf out, int value)
{
    longjmp(out, value);
}

__attribute__((noipa)) static void dive(jmp_buf out, int depth, int deepest)
{
    blocks[depth] = keep(malloc((size_t)depth + 1));
    if (depth == deepest)
        leave(out, depth + 1);
    else
        dive(out, depth + 1, deepest);
    free(blocks[depth]);
}

int main(void)
{
    volatile long sum = 0;
    for (volatile int deepest = 0; deepest <= 500; deepest += 5) {
        jmp_buf out;
        int came = setjmp(out);
        if (!came)
            dive(out, 0, deepest);
        CHECK(came == deepest + 1);
        for (int i = 0; i < came; i++)
            free(blocks[i]);
        sum += came;
    }
    say("%ld frames left\n", sum);
    return 0;
}
