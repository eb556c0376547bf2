/* A plugin in C++ for programs in C: strings, maps, a static object, an exception of its own.
 *
 * @plugin
 * @flags -fno-gnu-unique
 */
#include "../torture.h"
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

static std::map<int, std::string> table{{1, std::string(100, 'a')}, {2, std::string(200, 'b')}};

SITE static size_t refuse(int n)
{
    auto held = std::make_unique<std::string>(static_cast<size_t>(n), 'x');
    if (n % 3 == 0)
        throw std::runtime_error(*held);
    return held->size();
}

extern "C" size_t cxx_work(int rounds)
{
    size_t sum = 0;
    for (int i = 1; i <= rounds; i++) {
        table[i % 50] = std::string(static_cast<size_t>(i), 'c');
        try {
            sum += refuse(i);
        } catch (const std::exception &error) {
            sum += strlen(error.what());
        }
    }
    return sum;
}
