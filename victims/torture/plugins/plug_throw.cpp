/* A plugin that throws, and calls back what may throw.
 *
 * @plugin
 * @flags -fno-gnu-unique
 */
#include "../torture.h"
#include <stdexcept>
#include <string>

extern "C" void plug_throw(int n)
{
    std::string held(static_cast<size_t>(n) + 50, 'h');
    throw std::runtime_error(held);
}

extern "C" int plug_call(void (*call)(int), int n)
{
    std::string held(100, 'c');
    try {
        call(n);
    } catch (const std::logic_error &error) {
        return static_cast<int>(strlen(error.what()));
    }
    return 0;
}
