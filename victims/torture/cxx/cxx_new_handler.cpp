/* operator new that fails: it calls a handler, which frees a reserve, allocates, takes itself off, or throws; the failed
 * calls and what the handler does come in the middle of an allocation.
 *
 * @uncounted: the absurd sizes are the compiler's to judge as well
 */
#include "../torture.h"
#include <new>
#include <string>

static void *reserve;
static int calls;

static void give_up_reserve()
{
    calls++;
    churn(20);
    free(reserve);
    reserve = nullptr;
    if (calls % 3 == 0)
        std::set_new_handler(nullptr);
}

struct Mine : std::bad_alloc {
    std::string why = std::string(100, 'w');
};

static void throw_mine()
{
    throw Mine();
}

int main()
{
    volatile size_t most = PTRDIFF_MAX - 64;
    int caught = 0, mine = 0;
    for (int i = 0; i < 50; i++) {
        reserve = keep(malloc(100000));
        std::set_new_handler(give_up_reserve);
        try {
            ::operator delete(keep(::operator new(most)));
        } catch (const std::bad_alloc &) {
            caught++;
        }
        CHECK(!reserve && !std::get_new_handler());
        CHECK(!keep(::operator new[](most, std::nothrow)));
        std::set_new_handler(throw_mine);
        try {
            ::operator delete[](keep(::operator new[](most, std::align_val_t(64))), std::align_val_t(64));
        } catch (const Mine &error) {
            mine += error.why.size() == 100;
        }
        CHECK(!keep(::operator new(most, std::nothrow)));
    }
    say("%d calls, %d and %d caught\n", calls, caught, mine);
    return 0;
}
