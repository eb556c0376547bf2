/* Code in which only the processor knows who called: calls that never return, behind which another function goes on;
 * return addresses left in buffers; arguments that are never popped. Compiled with unwind tables and without, and with
 * -DOUTER the part that always has some. Whoever walks without may stop, and must not name another caller. */
#include <setjmp.h>
#include <stdlib.h>

#define APART __attribute__((noinline))
__attribute__((noreturn, cold)) void leave(int size);
__attribute__((noreturn)) void leave_with(int a, int b, int c, int d, int e, int f, int size, void *caller);
__attribute__((cold)) int rare(int size);
void note(void);
int other(int), top(int);
extern volatile int now;
extern void *left_by;

#ifdef OUTER
volatile int now = -1;
void *left_by;
static jmp_buf back;
APART void note(void) { free(malloc(10)); }
APART int rare(int size)
{
    void *volatile block = malloc(size);
    free(block);
    return size;
}
APART void leave(int size)
{
    void *volatile block = malloc(size);
    free(block);
    longjmp(back, 1);
}
APART void leave_with(int a, int b, int c, int d, int e, int f, int size, void *caller)
{
    left_by = caller;
    leave(a + b + c + d + e + f + size);
}
int main(void)
{
    for (int round = -1; round < 9; round++) {
        now = round;
        if (!setjmp(back))
            other(round);
        if (!setjmp(back))
            top(round);
    }
    return 0;
}
#else
static void *volatile sink;
APART static void fill(void **words, int count)
{
    for (int i = 0; i < count; i++)
        words[i] = left_by;
    sink = words;
}
/* The rare part of each stands before that of the next. */
APART static int first(int n)
{
    note();
    left_by = __builtin_return_address(0);
    if (__builtin_expect(n == 77, 0))
        leave(77);
    note();
    return n + now;
}
APART static int second(int n)
{
    void *words[33];
    fill(words, 33);
    if (__builtin_expect(now == 1, 0)) {
        rare(300);
        leave(1000 + n);
    }
    return n + now + (words[3] != 0);
}
APART static int third(int n)
{
    int got = n;
    note();
    left_by = __builtin_return_address(0);
    if (__builtin_expect(n == 77, 0))
        got = rare(n);
    note();
    return got + now;
}
APART static int fourth(int n)
{
    void *words[35];
    fill(words, 35);
    if (__builtin_expect(now == 2, 0))
        leave(2000);
    if (__builtin_expect(now == 3, 0))
        leave_with(1, 2, 3, 4, 5, 6, n, left_by);
    return n + now + (words[3] != 0);
}
APART static int fifth(int n)
{
    note();
    left_by = __builtin_return_address(0);
    if (n == now + 100)
        leave_with(1, 2, 3, 4, 5, 6, n, left_by);
    return n + now;
}
APART int other(int n)
{
    int sum = now & 1 ? first(n) * 3 : third(n) * 3;
    sum += third(n) * 3 + fifth(n);
    sink = 0;
    return sum;
}
APART int top(int n)
{
    int sum = second(n) * 2;
    sum += fourth(n) + fifth(now == 4 ? n + 100 : n);
    sink = 0;
    return sum;
}
#endif
