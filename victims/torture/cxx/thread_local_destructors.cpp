/* C++ thread_local objects with destructors that allocate, free, and touch other thread_local objects for the first time;
 * keys' destructors come after them. */
#include "../torture.h"
#include <atomic>
#include <map>
#include <string>
#include <vector>

static std::atomic<int> gone;
static pthread_key_t key;

struct Late {
    std::vector<std::string> lines = std::vector<std::string>(10, std::string(50, 'l'));
    ~Late() { gone++; }
};

struct Early {
    std::map<int, std::string> numbers;
    ~Early();
};

static thread_local Early early;

Early::~Early()
{
    thread_local Late late;
    late.lines.emplace_back(100, 'e');
    churn(20);
    gone++;
    pthread_setspecific(key, keep(malloc(70)));
}

static void *thread(void *)
{
    for (int i = 0; i < 50; i++)
        early.numbers[i] = std::string(40, 'n');
    return nullptr;
}

int main()
{
    CHECK(pthread_key_create(&key, free) == 0);
    for (int i = 0; i < 20; i++)
        join_thread(start_thread(thread, nullptr));
    thread(nullptr);
    say("%d gone\n", gone.load());
    return 0;
}
