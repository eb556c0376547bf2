/* A plugin that ends the program from its constructor.
 *
 * @plugin
 */
#include "../torture.h"

static void at_exit(void)
{
    churn(100);
    say("ended in a constructor\n");
}

__attribute__((constructor)) static void begin(void)
{
    churn(100);
    CHECK(atexit(at_exit) == 0);
    exit(7);
}
