/* What `attached loads` loads and unloads: its calls of malloc are bound each time. */
#include <stdlib.h>

void *plugin_work(size_t size)
{
    return realloc(malloc(size / 2), size);
}
