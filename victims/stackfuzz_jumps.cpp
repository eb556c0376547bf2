// stackfuzz: jumps and exceptions over many frames, and what runs on their way.
#include "stackfuzz.h"

namespace {

struct thrown {
    int rethrows;
};

// Allocates while an exception passes. No jump leaves a destructor.
struct cleaned {
    struct fuzz *f;
    ~cleaned()
    {
        turn(f);
        turn(f);
    }
};

SITE void jumping(struct fuzz *f, int depth)
{
    struct point here;
    here.was = f->now;
    if (sigsetjmp(here.buffer, 0)) {
        turn(f);
        return;
    }
    f->now.points = &here;
    go(f, depth);
    f->now = here.was;
}

SITE void with_cleanup(struct fuzz *f, int depth)
{
    cleaned first{f};
    go(f, depth);
    cleaned second{f};
    go(f, depth / 2);
}

// Nothing is gone into within a handler: a coroutine may not be left in one.
SITE void catching(struct fuzz *f, int depth)
{
    struct limits was = f->now;
    f->now.catchers++;
    try {
        cleaned here{f};
        go(f, depth);
    } catch (const thrown &) {
        f->now = was;
        turn(f);
        turn(f);
    }
    f->now = was;
    turn(f);
}

SITE void rethrowing(struct fuzz *f, int depth)
{
    struct limits was = f->now;
    try {
        go(f, depth);
    } catch (thrown &one) {
        f->now = was;
        turn(f);
        one.rethrows++;
        if (f->now.catchers)
            throw;
    }
    turn(f);
}

} // namespace

extern "C" {

SITE void throw_something(struct fuzz *f)
{
    turn(f);
    throw thrown{0};
}

SITE void jump(struct fuzz *f)
{
    struct point *to = f->now.points;
    while (to->was.points && below(f, 3) == 0)
        to = to->was.points;
    f->now = to->was;
    siglongjmp(to->buffer, 1);
}

extern const struct choice jump_entries[] = {
    {"jump", jumping, 40, 0},
    {"cleanup", with_cleanup, 40, 0},
    {"catch", catching, 30, 0},
    {"rethrow", rethrowing, 20, 0},
    {nullptr, nullptr, 0, 0},
};
}
