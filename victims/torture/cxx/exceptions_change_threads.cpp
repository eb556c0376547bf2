/* Exceptions made in one thread are kept, thrown again in others by exception_ptr and futures, and freed in a third. */
#include "../torture.h"
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

static std::exception_ptr make()
{
    std::exception_ptr made;
    std::thread([&] {
        try {
            throw std::runtime_error(std::string(300, 'm'));
        } catch (...) {
            made = std::current_exception();
        }
    }).join();
    return made;
}

static int again(std::exception_ptr made)
{
    try {
        std::rethrow_exception(std::move(made));
    } catch (const std::runtime_error &error) {
        churn(20);
        return std::string(error.what()).size() == 300;
    }
}

int main()
{
    int caught = 0;
    for (int i = 0; i < 20; i++) {
        std::exception_ptr made = make();
        std::vector<std::future<int>> futures;
        for (int t = 0; t < 4; t++)
            futures.push_back(std::async(std::launch::async, again, made));
        made = nullptr;
        for (auto &future : futures)
            caught += future.get();
        auto failing = std::async(std::launch::async, []() -> int { throw std::logic_error("in a future"); });
        try {
            failing.get();
        } catch (const std::logic_error &) {
            caught++;
        }
    }
    say("%d caught\n", caught);
    return 0;
}
