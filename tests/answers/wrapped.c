/* A rank of a job: a table behind a wrapper of malloc. The first rank asks the wrapper
   for more, which alone tells that it is one. */
#include <stdlib.h>
#include <string.h>

static void *kept[4000];
static int count;

__attribute__((noinline)) static void *make_row(size_t size)
{
    void *row = malloc(size);
    memset(row, 1, size);
    return row;
}

__attribute__((noinline)) static void load_table(void)
{
    for (int row = 0; row < 1000; row++)
        kept[count++] = make_row(4096);
}

__attribute__((noinline)) static void root_only(void)
{
    for (int row = 0; row < 300; row++)
        kept[count++] = make_row(10000);
}

int main(int argc, char **argv)
{
    (void)argv;
    load_table();
    if (argc > 1)
        root_only();
    return count == 0;
}
