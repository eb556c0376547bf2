/* Frames of megabytes, by alloca and by arrays of variable length, between the frames that allocate: the stack grows by more
 * than a page at once and a walk steps over what was never touched. */
#include "../torture.h"
#include <alloca.h>

__attribute__((noipa)) static int use(char *bytes, size_t size)
{
    bytes[0] = bytes[size - 1] = 1;
    void *p = keep(malloc(size % 1000));
    churn(10);
    free(p);
    return bytes[0];
}

__attribute__((noipa)) static int by_alloca(size_t size)
{
    char *bytes = alloca(size);
    void *p = keep(malloc(30));
    int sum = use(bytes, size) + (size > 5000 ? by_alloca(size / 3) : 0);
    free(p);
    return sum;
}

__attribute__((noipa)) static int by_array(size_t size)
{
    char bytes[size];
    void *p = keep(malloc(30));
    int sum = use(bytes, size) + (size > 5000 ? by_array(size / 2) : 0);
    free(p);
    return sum;
}

int main(void)
{
    int sum = 0;
    for (size_t i = 0; i < 30; i++)
        sum += by_alloca((1 << 20) + i * 1001) + by_array((1 << 20) + i * 999);
    say("%d frames\n", sum);
    return 0;
}
