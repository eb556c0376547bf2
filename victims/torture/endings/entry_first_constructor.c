/* Each entry point as the first call of an image, in the constructor with the highest priority that is not libc's.
 *
 * @may lack: children that exec at once have no events
 */
#include "entries.h"

__attribute__((constructor(101))) static void first(int argc, char **argv)
{
    if (argc > 1)
        enter(atoi(argv[1]));
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return 0;
    run_each();
    say("%d first calls\n", ENTRIES);
    return 0;
}
