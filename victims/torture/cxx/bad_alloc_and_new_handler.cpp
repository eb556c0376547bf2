/* operator new cannot have what it wants: it calls the new_handler, which frees a reserve, allocates, then throws or gives up.
 *
 * @uncounted: the absurd sizes are the compiler's to judge as well
 */
#include "../torture.h"
#include <new>
#include <stdexcept>
#include <vector>

static void *reserve;
static int handled;

static void handler()
{
    handled++;
    churn(10);
    if (reserve) {
        free(reserve);
        reserve = nullptr;
    } else {
        throw std::bad_alloc();
    }
}

int main()
{
    volatile size_t most = PTRDIFF_MAX - 100;
    int caught = 0;
    for (int i = 0; i < 50; i++) {
        reserve = keep(malloc(1000));
        std::set_new_handler(handler);
        try {
            keep(::operator new(most));
        } catch (const std::bad_alloc &) {
            caught++;
        }
        CHECK(!keep(::operator new[](most, std::nothrow)));
        std::set_new_handler(nullptr);
        try {
            std::vector<char> bytes(most / 2);
        } catch (const std::bad_alloc &) {
            caught++;
        }
        try {
            std::vector<char> bytes;
            bytes.reserve(most + 200);
        } catch (const std::length_error &) {
            caught++;
        }
    }
    say("%d caught, %d handled\n", caught, handled);
    return 0;
}
