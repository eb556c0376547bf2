/* Exceptions fly through hundreds of frames whose destructors free and allocate, are rethrown, nested, and thrown again from
 * catch blocks. */
#include "../torture.h"
#include <exception>
#include <stdexcept>
#include <string>

static int destroyed;

struct Guard {
    std::string text = std::string(100, 'g');
    ~Guard()
    {
        delete[] static_cast<char *>(keep(new char[text.size()]));
        destroyed++;
    }
};

__attribute__((noipa)) static int dive(int depth)
{
    Guard guard;
    if (depth == 0)
        throw std::runtime_error(std::string(200, 'e'));
    if (depth % 50 != 0)
        return dive(depth - 1) + 1;
    try {
        return dive(depth - 1) + 1;
    } catch (const std::exception &) {
        std::throw_with_nested(std::logic_error("at " + std::to_string(depth)));
    }
}

static int count(const std::exception &error)
{
    try {
        std::rethrow_if_nested(error);
    } catch (const std::exception &inner) {
        return 1 + count(inner);
    }
    return 1;
}

int main()
{
    int nested = 0;
    for (int i = 0; i < 10; i++)
        try {
            dive(300);
        } catch (const std::exception &error) {
            nested += count(error);
        }
    say("%d destroyed, %d nested\n", destroyed, nested);
    return 0;
}
