/* A plugin with a function whose resolver allocates.
 *
 * @plugin
 */
#include "../torture.h"

static int chosen(int n)
{
    churn(n);
    return n + 1;
}

static int (*choose(void))(int)
{
    free(keep(malloc(100)));
    return chosen;
}

__attribute__((ifunc("choose"))) int plug_chosen(int n);
