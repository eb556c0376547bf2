/* std::thread, std::async, promises with exceptions and call_once: shared states are made in one thread and released in
 * another, at a thread's end.
 */
#include "../torture.h"
#include <future>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static size_t work(int n)
{
    std::vector<std::string> lines;
    for (int i = 0; i < n; i++)
        lines.emplace_back(static_cast<size_t>(i), 'x');
    if (n % 7 == 0)
        throw std::runtime_error("seven");
    return std::accumulate(lines.begin(), lines.end(), size_t(0), [](size_t sum, auto &line) { return sum + line.size(); });
}

int main()
{
    size_t sum = 0;
    int failed = 0;
    for (int round = 0; round < 5; round++) {
        std::vector<std::future<size_t>> results;
        for (int i = 1; i <= 15; i++)
            results.push_back(std::async(i % 3 ? std::launch::async : std::launch::deferred, work, i));
        for (auto &result : results) {
            try {
                sum += result.get();
            } catch (const std::runtime_error &) {
                failed++;
            }
        }
        std::once_flag once;
        std::promise<std::string> promise;
        auto text = promise.get_future().share();
        std::thread waiting([text] { CHECK(text.get().size() == 500); });
        std::thread telling([&promise, &once] {
            std::call_once(once, [&promise] { promise.set_value_at_thread_exit(std::string(500, 'p')); });
            churn(50);
        });
        telling.join();
        waiting.join();
    }
    say("%zu, %d failed\n", sum, failed);
    return 0;
}
