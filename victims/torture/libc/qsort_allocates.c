/* Comparators of qsort, qsort_r, bsearch and tsearch that allocate, nested; and qsort of so much that it allocates itself. */
#include "../torture.h"
#include <search.h>

static int compare(const void *left, const void *right)
{
    int *copy = keep(malloc(2 * sizeof *copy));
    CHECK(copy);
    copy[0] = *(const int *)left;
    copy[1] = *(const int *)right;
    int order = (copy[0] > copy[1]) - (copy[0] < copy[1]);
    free(copy);
    return order;
}

static int nested(const void *left, const void *right, void *count)
{
    int *some = keep(calloc(5, sizeof *some));
    CHECK(some);
    some[0] = 3;
    some[1] = 1;
    qsort(some, 5, sizeof *some, compare);
    CHECK(some[4] == 3);
    free(some);
    ++*(long *)count;
    return compare(left, right);
}

int main(void)
{
    enum { COUNT = 5000 };
    int *all = keep(malloc(COUNT * sizeof *all));
    CHECK(all);
    for (int i = 0; i < COUNT; i++)
        all[i] = i * 7919 % COUNT;
    qsort(all, COUNT, sizeof *all, compare);
    for (int i = 0; i < COUNT; i++)
        CHECK(all[i] == i && *(int *)bsearch(&i, all, COUNT, sizeof *all, compare) == i);
    long count = 0;
    for (int i = 0; i < COUNT; i++)
        all[i] = i * 7919 % COUNT;
    qsort_r(all, COUNT, sizeof *all, nested, &count);
    CHECK(count > COUNT && all[1234] == 1234);
    void *root = NULL;
    for (int i = 0; i < 500; i++)
        CHECK(tsearch(&all[i * 3], &root, compare));
    for (int i = 0; i < 500; i++)
        CHECK(tdelete(&all[i * 3], &root, compare));
    CHECK(!root);
    free(all);
    say("sorted\n");
    return 0;
}
