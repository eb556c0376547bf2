/* Exceptions cross the borders of plugins in both directions, while another thread loads and unloads a plugin: the
 * unwinder allocates, asks the loader for tables, and walks frames whose library may be new.
 *
 * @flags -ldl
 */
#include "../loader.h"
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

static void refuse(int n)
{
    std::string held(static_cast<size_t>(n) + 40, 'r');
    if (n % 2)
        throw std::logic_error(held);
    throw std::runtime_error(held);
}

int main()
{
    std::thread storm([] {
        for (int i = 0; i < 60; i++)
            CHECK(dlclose(load(i % 2 ? "plug_small" : "plug_cxx", RTLD_NOW)) == 0);
    });
    size_t sum = 0;
    for (int round = 0; round < 10; round++) {
        void *handle = load("plug_throw", RTLD_NOW);
        auto raise = reinterpret_cast<void (*)(int)>(find(handle, "plug_throw"));
        auto call = reinterpret_cast<int (*)(void (*)(int), int)>(find(handle, "plug_call"));
        std::exception_ptr kept;
        for (int i = 0; i < 40; i++) {
            try {
                sum += static_cast<size_t>(call(refuse, i));
                raise(i);
            } catch (const std::runtime_error &error) {
                sum += strlen(error.what());
                kept = std::current_exception();
            }
        }
        CHECK(kept);
        kept = nullptr;
        CHECK(dlclose(handle) == 0);
    }
    storm.join();
    say("caught %zu\n", sum);
    return 0;
}
