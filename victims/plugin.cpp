// The C++ plugins of dlopen_plugin.c, built twice: PLUGIN names the class, SIZE the blocks, so that the two libraries
// can take each other's place in memory with other functions at the same addresses.
#include "victim.h"
#include <stdexcept>
#include <string>
#include <vector>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define METHOD JOIN(PLUGIN, _block)

namespace {

SITE char *METHOD()
{
    char *p = new char[SIZE]; // 10 a run, all deleted
    return static_cast<char *>(touch(keep(p), SIZE));
}

} // namespace

extern "C" int plugin_run()
{
    std::vector<std::string> names;
    for (int i = 0; i < 10; i++)
        names.push_back(std::string(100 + i, 'x'));
    for (int i = 0; i < 10; i++)
        delete[] METHOD();
    try {
        throw std::runtime_error(names.back());
    } catch (const std::exception &e) {
        return SIZE + (e.what()[0] != 'x');
    }
}
