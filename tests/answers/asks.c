/* Asks for memory in every way that C has, the same in every run. Threads follow one
 * another, so that all profilers see one order. It prints nothing: a buffer of stdout
 * would be a block too. */
#include "../../victims/victim.h"
#include <malloc.h>
#include <pthread.h>
#include <string.h>

enum { KEPT = 100 };
static void *kept[KEPT];

SITE static void many_small(void)
{
    for (int i = 0; i < KEPT; i++)
        kept[i] = keep(malloc(100 + i));
}

SITE static void frees_small(void)
{
    for (int i = 0; i < KEPT; i++)
        free(kept[i]);
}

SITE static void passes_by(void)
{
    for (int i = 1; i <= 50; i++)
        free(keep(malloc(i)));
}

SITE static void *clears(void) { return keep(calloc(7, 1000)); }

/* Small, so that it moves; then large, so that the kernel may move it. */
SITE static void *grows(void)
{
    char *p = NULL;
    for (size_t size = 10; size < 3000000; size *= 4)
        p = keep(realloc(p, size));
    return p;
}

SITE static void *shrinks(void)
{
    char *p = keep(malloc(9000));
    p = keep(realloc(p, 3000));
    return keep(realloc(p, 700));
}

SITE static void *aligns(int way)
{
    void *p = NULL;
    switch (way) {
    case 0: return keep(memalign(256, 1001));
    case 1: return keep(aligned_alloc(64, 640));
    default: return posix_memalign(&p, 4096, 5000) ? NULL : keep(p);
    }
}

SITE static void leaks(void)
{
    for (int i = 0; i < 13; i++)
        keep(malloc(1000 + i));
}

SITE static void asks_for_nothing(void) { free(keep(malloc(0))); }

/* After the peak: not in it. */
SITE static void comes_late(void) { free(keep(malloc(333))), free(keep(malloc(444))); }

static void *handed;

SITE static void *first_worker(void *arg)
{
    free(arg);
    handed = keep(malloc(70000));
    passes_by();
    free(keep(malloc(12345)));
    return keep(malloc(24));
}

SITE static void *second_worker(void *arg)
{
    free(arg);
    free(handed);
    keep(malloc(54321));
    passes_by();
    return keep(malloc(25));
}

/* It gets a block and gives one back: events on one address are in order, and so is all
 * that lies between. */
SITE static void runs(void *(*work)(void *))
{
    pthread_t thread;
    void *last;
    if (pthread_create(&thread, NULL, work, keep(malloc(23))))
        abort();
    pthread_join(thread, &last);
    free(last);
}

int main(void)
{
    void *held[6];
    many_small();
    passes_by();
    asks_for_nothing();
    runs(first_worker);
    held[0] = clears();
    for (int way = 0; way < 3; way++)
        held[1 + way] = aligns(way);
    leaks();
    held[4] = shrinks();
    held[5] = grows();
    for (int i = 0; i < 6; i++)
        free(held[i]);
    frees_small();
    runs(second_worker);
    comes_late();
    return 0;
}
