/* Leaks whose truth is known: it prints what each function leaked. With -DLIBRARY it is the
 * library whose function leaks as well. */
#include "../../victims/victim.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef LIBRARY
void in_library(size_t size);
SITE void in_library(size_t size) { keep(malloc(size)); }
#else
void in_library(size_t size);

SITE static void known_leak(size_t size) { keep(malloc(size)); }
SITE static void exact_one(size_t size) { keep(malloc(size)); }
SITE static void exact_one_more(size_t size) { keep(malloc(size)); }
SITE static void wild_and_its_tail(size_t size) { keep(malloc(size)); }
SITE static void inner(size_t size) { keep(malloc(size)); keep(NULL); }
SITE static void outer(size_t size) { inner(size); keep(NULL); }
SITE static void grows(size_t size) { keep(malloc(size)); }
SITE static void *cache(size_t size) { return keep(malloc(size)); }
SITE static void early(size_t size) { keep(malloc(size)); }

#define LEAK(function, size, times) \
    do { \
        for (int i = 0; i < (times); i++) \
            function(size); \
        printf("leak " #function " bytes=%d blocks=%d\n", (size) * (times), times); \
    } while (0)

/* No pointer is left where a leak detector looks. */
SITE static void scrub(void)
{
    volatile char room[1 << 16];
    for (size_t i = 0; i < sizeof room; i++)
        room[i] = 0;
}

enum { STEPS = 50 };

int main(void)
{
    void *kept[STEPS];
    /* A buffer would be no leak to a leak detector. */
    setvbuf(stdout, NULL, _IONBF, 0);
    LEAK(early, 5000, 2);
    for (int step = 0; step < STEPS; step++) {
        grows(100);
        kept[step] = cache(1000);
        for (int i = step - 9; step % 10 == 9 && i <= step; i++)
            free(kept[i]);
        usleep(8000);
    }
    printf("leak grows bytes=%d blocks=%d\n", 100 * STEPS, STEPS);
    memset(kept, 0, sizeof kept);
    LEAK(known_leak, 10, 3);
    LEAK(exact_one, 21, 2);
    LEAK(exact_one_more, 33, 2);
    LEAK(wild_and_its_tail, 47, 1);
    LEAK(outer, 59, 4);
    LEAK(in_library, 71, 5);
    scrub();
    return fflush(stdout);
}
#endif
