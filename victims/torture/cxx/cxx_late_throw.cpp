/* Exceptions where memory lacks and where nobody looks: bad_alloc of a size that no machine has,
 * an exception kept past its throw, rethrown in another thread, nested ones, and one in a destructor during unwinding.
 *
 * @uncounted: the absurd sizes are the allocator's to judge as well
 */
#include "../torture.h"
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Careful {
    ~Careful()
    {
        try {
            churn(5);
            throw std::logic_error(std::string(80, 'd'));
        } catch (const std::logic_error &) {
        }
    }
};

static void nest(int depth)
{
    Careful careful;
    try {
        if (depth == 0)
            throw std::runtime_error(std::string(100, 'n'));
        nest(depth - 1);
    } catch (...) {
        std::throw_with_nested(std::runtime_error("at " + std::to_string(depth)));
    }
}

static int depth_of(const std::exception &error)
{
    try {
        std::rethrow_if_nested(error);
    } catch (const std::exception &inner) {
        return 1 + depth_of(inner);
    }
    return 1;
}

int main()
{
    int depth = 0;
    for (int i = 0; i < 10; i++) {
        std::exception_ptr kept;
        try {
            nest(10);
        } catch (...) {
            kept = std::current_exception();
        }
        std::thread([&depth, kept = std::move(kept)] {
            try {
                std::rethrow_exception(kept);
            } catch (const std::exception &error) {
                depth += depth_of(error);
            }
        }).join();
    }
    volatile size_t most = size_t(1) << 46;
    int lacking = 0;
    for (int i = 0; i < 20; i++) {
        try {
            std::vector<char> much(most);
            lacking += much.empty();
        } catch (const std::bad_alloc &) {
            lacking++;
        }
    }
    CHECK(lacking == 20);
    say("%d deep\n", depth);
    return 0;
}
