/* Parallel loops whose threads allocate, nested ones and tasks. */
#include "seen.h"
#include <omp.h>

SITE static long share(int i)
{
    void *block = seen(), *other = calloc(3, 100 + i);
    free(block);
    free(other);
    return i;
}

int main(void)
{
    long sum = 0, tasks = 0;
    omp_set_dynamic(0);
    seen_begin();
#pragma omp parallel for num_threads(4) reduction(+ : sum) schedule(static)
    for (int i = 0; i < 200; i++)
        sum += share(i);
#pragma omp parallel num_threads(3)
#pragma omp single
    for (int i = 0; i < 30; i++)
#pragma omp task shared(tasks)
        __atomic_fetch_add(&tasks, share(i), __ATOMIC_RELAXED);
    say("sum:", sum);
    say("tasks:", tasks);
    return 0;
}
