// Exceptions through many frames that hold memory: `throw [rounds=200] [depth=50]`. Prints nothing, exits 0.
//
// Each frame of `fall` holds one string of 200 + depth characters; the last one throws, and main catches, so that
// destructors free while the stack unwinds. Each tenth round catches and rethrows half way. Nothing of the program's
// own is live at its end but the blocks of `after_catch`: 64 bytes a round, whose stacks must be those of a fresh frame.
#include "victim.h"
#include <stdexcept>
#include <string>

static int caught;

SITE void after_catch()
{
    keep(malloc(64)); // one a round
}

SITE int fall(int depth, bool rethrow)
{
    std::string held(200 + depth, 'm');
    keep(&held[0]);
    if (depth == 0)
        throw std::runtime_error(held);
    if (!rethrow || depth % 25)
        return fall(depth - 1, rethrow) + held[0];
    try {
        return fall(depth - 1, rethrow) + held[0];
    } catch (const std::exception &) {
        std::string also(300, 'n');
        keep(&also[0]);
        caught++;
        throw;
    }
}

int main(int argc, char **argv)
{
    long rounds = number(argc, argv, 1, 200), depth = number(argc, argv, 2, 50), ended = 0;
    for (long i = 0; i < rounds; i++) {
        try {
            fall((int)depth, i % 10 == 9);
        } catch (const std::runtime_error &) {
            ended++;
        }
        after_catch();
    }
    return ended != rounds;
}
