/* Allocation from within libc's callbacks: `qsort_cb [numbers=2000]`. Prints nothing, exits 0 if sorted.
 *
 * The comparators allocate and free two blocks a call, below qsort, bsearch and tsearch; `leak_in_callback` is
 * called from the walk of twalk and keeps 40 bytes a node. qsort's buffer and tsearch's nodes are libc's own blocks.
 */
#define _GNU_SOURCE
#include "victim.h"
#include <search.h>

static int *numbers;
static long leaked;

SITE int compare(const void *a, const void *b)
{
    int *x = keep(malloc(24)), *y = keep(malloc(1500));
    *x = *(const int *)a;
    *y = *(const int *)b;
    int order = (*x > *y) - (*x < *y);
    free(x);
    free(y);
    return order;
}

SITE void leak_in_callback(const void *node, VISIT visit, int depth)
{
    (void)node, (void)depth;
    if (visit == postorder || visit == leaf) {
        touch(keep(malloc(40)), 40);
        leaked++;
    }
}

static void nothing(void *p)
{
    (void)p;
}

int main(int argc, char **argv)
{
    long n = number(argc, argv, 1, 2000), different = 0;
    unsigned random = 7;
    void *tree = NULL;
    numbers = malloc(n * sizeof *numbers);
    for (long i = 0; i < n; i++)
        numbers[i] = (random = random * 1664525 + 1013904223) >> 1;
    for (long i = 0; i < n; i++)
        different += *(int **)tsearch(&numbers[i], &tree, compare) == &numbers[i];
    twalk(tree, leak_in_callback);
    tdestroy(tree, nothing);
    qsort(numbers, n, sizeof *numbers, compare);
    for (long i = 1; i < n; i++)
        if (numbers[i - 1] > numbers[i] || !bsearch(&numbers[i], numbers, n, sizeof *numbers, compare))
            return 1;
    free(numbers);
    return leaked != different;
}
