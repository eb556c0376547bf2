// The C++ plugins of dlopen_plugin.c, built twice: PLUGIN names the class, SIZE the blocks, so that the two libraries
// can take each other's place in memory with other functions at the same addresses. With ONLY_NEW they need no C++
// library but for its operators.
#include "victim.h"
#ifndef ONLY_NEW
#include <stdexcept>
#include <string>
#include <vector>
#endif

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

#ifdef ONLY_NEW
extern "C" int plugin_run()
{
    for (int i = 0; i < 10; i++)
        delete[] METHOD();
    return SIZE;
}
#else
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
#endif

// A block that outlives other plugins, and its end by a form of delete that was not called before.
extern "C" void *plugin_keep() { return touch(keep(::operator new(SIZE)), SIZE); }
extern "C" void plugin_drop(void *block) { ::operator delete(block, size_t(SIZE)); }
