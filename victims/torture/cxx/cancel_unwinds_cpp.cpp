/* Cancellation unwinds through C++ frames: destructors free and allocate, catch (...) rethrows. */
#include "../torture.h"
#include <atomic>
#include <string>
#include <vector>

static std::atomic<int> destroyed, caught;

struct Holder {
    std::vector<std::string> strings = std::vector<std::string>(20, std::string(100, 'x'));
    ~Holder()
    {
        churn(30);
        destroyed++;
    }
};

__attribute__((noipa)) static void dive(int depth)
{
    Holder holder;
    try {
        if (depth)
            dive(depth - 1);
        else
            pthread_testcancel();
    } catch (...) {
        delete static_cast<int *>(keep(new int(7)));
        caught++;
        throw;
    }
}

static void *thread(void *)
{
    pthread_cancel(pthread_self());
    dive(9);
    return nullptr;
}

int main()
{
    for (int i = 0; i < 5; i++) {
        void *result;
        CHECK(pthread_join(start_thread(thread, nullptr), &result) == 0 && result == PTHREAD_CANCELED);
    }
    say("%d destroyed, %d caught\n", destroyed.load(), caught.load());
    return 0;
}
