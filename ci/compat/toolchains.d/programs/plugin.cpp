// A plugin of host.c, built twice: SIZE makes its frames and so its code different.
#include <cstdlib>
#include <stdexcept>
#include <string>

#define SITE __attribute__((noinline))
using maker = void *(*)();

namespace {
struct Holder {
    void *block;
    explicit Holder(maker make) : block(make()) {}
    ~Holder() { free(block); }
    Holder(const Holder &) = delete;
};

SITE int inner(maker make, int depth)
{
    volatile char room[SIZE];
    Holder holder(make);
    room[depth] = 1;
    if (depth == 0)
        throw std::runtime_error(std::string(SIZE, 'x'));
    int said = inner(make, depth - 1);
    return said + room[depth];
}
}

extern "C" int plugin_run(maker make, int depth)
{
    try {
        return inner(make, depth);
    } catch (const std::exception &error) {
        free(make());
        return SIZE + (error.what()[0] != 'x');
    }
}
