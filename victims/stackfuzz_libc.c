/* stackfuzz: libc's functions that call back. */
#define _GNU_SOURCE
#include "stackfuzz.h"
#include <dirent.h>
#include <ftw.h>
#include <pthread.h>
#include <search.h>

/* What a callback that gets no argument works for. */
struct work {
    struct fuzz *f;
    int depth;
};
static __thread struct work now __attribute__((tls_model("initial-exec")));

/* Only some of the calls go down. */
SITE static void call_back(struct fuzz *f, int depth)
{
    turn(f);
    if (below(f, 4) == 0)
        go(f, depth);
    turn(f);
}

SITE static void call_back_now(void)
{
    struct work was = now;
    call_back(was.f, was.depth);
    now = was;
}

SITE static int compare_with(const void *a, const void *b, void *argument)
{
    struct work *w = argument;
    call_back(w->f, w->depth);
    return *(const int *)a - *(const int *)b;
}

SITE static int compare(const void *a, const void *b)
{
    call_back_now();
    return *(const int *)a - *(const int *)b;
}

SITE static void sorting(struct fuzz *f, int depth)
{
    struct work w = {f, depth / 2};
    int numbers[7];
    for (int i = 0; i < 7; i++)
        numbers[i] = (int)below(f, 100);
    qsort_r(numbers, 2 + below(f, 6), sizeof *numbers, compare_with, &w);
}

SITE static void searching(struct fuzz *f, int depth)
{
    static const int numbers[] = {1, 2, 3, 5, 8, 13, 21, 34};
    int wanted = (int)below(f, 40);
    now = (struct work){f, depth / 2};
    keep(bsearch(&wanted, numbers, 8, sizeof *numbers, compare));
}

static void visit(const void *node, VISIT order, void *argument)
{
    struct work *w = argument;
    (void)node;
    if (order != endorder)
        call_back(w->f, w->depth);
}

static int compare_quietly(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void nothing(void *p)
{
    (void)p;
}

SITE static void walking_tree(struct fuzz *f, int depth)
{
    static const int numbers[] = {4, 2, 6, 1, 3};
    struct limits was = bar(f);
    struct work w = {f, depth / 2};
    void *tree = NULL;
    for (int i = 0; i < 5; i++)
        tsearch(&numbers[i], &tree, compare_quietly);
    twalk_r(tree, visit, &w);
    tdestroy(tree, nothing);
    f->now = was;
}

static int choose_file(const struct dirent *entry)
{
    (void)entry;
    call_back_now();
    return 0;
}

static int see_file(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)path, (void)status, (void)kind, (void)place;
    call_back_now();
    return 0;
}

SITE static void walking_files(struct fuzz *f, int depth)
{
    struct limits was = bar(f);
    struct dirent **list;
    now = (struct work){f, depth / 2};
    if (below(f, 2))
        nftw("/proc/self/task", see_file, 4, FTW_PHYS);
    else if (scandir("/proc/self/task", &list, choose_file, alphasort) >= 0)
        free(list);
    f->now = was;
}

SITE static void once(struct fuzz *f, int depth)
{
    struct limits was = bar(f);
    pthread_once_t control = PTHREAD_ONCE_INIT;
    now = (struct work){f, depth};
    pthread_once(&control, call_back_now);
    f->now = was;
}

const struct choice libc_entries[] = {
    {"qsort", sorting, 20, 0}, {"bsearch", searching, 20, 0}, {"twalk", walking_tree, 10, 0},
    {"files", walking_files, 2, 0}, {"once", once, 20, 0},    {NULL, NULL, 0, 0},
};
