/* Each entry point as the last call of an image, in the destructor that runs after all others and after atexit's.
 *
 * @may lack: children that exec at once have no events
 */
#include "entries.h"

static int chosen = -1, exits;

static void at_exit(void)
{
    exits++;
}

__attribute__((destructor(101))) static void last(void)
{
    if (chosen < 0)
        return;
    CHECK(exits == 1);
    enter(chosen);
    say("%d ", chosen);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        chosen = atoi(argv[1]);
        CHECK(atexit(at_exit) == 0);
        return 0;
    }
    run_each();
    say("were last calls\n");
    return 0;
}
