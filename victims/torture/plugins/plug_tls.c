/* A plugin with much memory per thread, which the loader allocates at a thread's first use of it.
 *
 * @plugin
 */
#include "../torture.h"

static __thread char room[100000];
static __thread void *block;

int plug_use(int value)
{
    int was = room[50000];
    room[50000] = (char)value;
    free(block);
    block = keep(malloc((size_t)value + 1));
    return was;
}

void plug_end(void)
{
    free(block);
    block = NULL;
}
