/* The program takes stacks of its own with backtrace(), and names them with backtrace_symbols, which allocates under the
 * loader's lock; also at the program's first allocation and in a callback of qsort.
 *
 * @flags -rdynamic
 */
#include "../torture.h"
#include <execinfo.h>

SITE int named_site(void)
{
    void *at[32];
    int depth = backtrace(at, 32), seen = 0;
    char **names = backtrace_symbols(at, depth);
    CHECK(depth > 2 && names);
    for (int i = 0; i < depth; i++)
        seen += strstr(names[i], "named_site") != NULL;
    free(names);
    return seen;
}

static int compare(const void *a, const void *b)
{
    CHECK(named_site() == 1);
    return *(const int *)a - *(const int *)b;
}

static void *work(void *argument)
{
    for (int i = 0; i < 50; i++) {
        CHECK(named_site() == 1);
        churn(10);
    }
    return argument;
}

int main(void)
{
    pthread_t id = start_thread(work, NULL);
    int numbers[40];
    for (int i = 0; i < 40; i++)
        numbers[i] = i * 7 % 40;
    qsort(numbers, 40, sizeof *numbers, compare);
    CHECK(numbers[0] == 0 && numbers[39] == 39);
    join_thread(id);
    say("named\n");
    return 0;
}
