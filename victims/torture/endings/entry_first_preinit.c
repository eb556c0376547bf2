/* Each entry point as the very first call of an image, before any constructor: in .preinit_array.
 *
 * @may lack: children that exec at once have no events
 */
#include "entries.h"

static void first(int argc, char **argv, char **environment)
{
    (void)environment;
    if (argc > 1)
        enter(atoi(argv[1]));
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int, char **, char **) = first;

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return 0;
    run_each();
    say("%d first calls\n", ENTRIES);
    return 0;
}
