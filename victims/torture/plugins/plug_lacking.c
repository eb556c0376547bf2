/* A plugin that needs a function which is nowhere.
 *
 * @plugin
 */
#include "../torture.h"

extern int function_that_is_nowhere(void *);

int plug_nowhere(void)
{
    return function_that_is_nowhere(keep(malloc(10)));
}
