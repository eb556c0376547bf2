/* A process that does little, as most that a build starts: a hundred events on a few stacks. */
#include <stdlib.h>

static void *volatile kept[50];

__attribute__((noinline)) static void take(int index)
{
    kept[index] = malloc(24 + 16 * index);
}

__attribute__((noinline)) static void take_for_another(int index)
{
    take(index);
    __asm__ volatile("");
}

int main(void)
{
    for (int index = 0; index < 50; index++)
        index % 2 ? take(index) : take_for_another(index);
    for (int index = 0; index < 50; index++)
        free(kept[index]);
}
