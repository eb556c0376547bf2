/* For own_loader: needs nothing of any other library. */
#include <stddef.h>

void *call(void *(*function)(size_t), size_t size)
{
    void *volatile result = function(size);
    return result;
}
