// Exceptions through frames that allocate, the operators new and delete, and containers.
#include "seen.h"
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

struct Holder {
    void *block;
    Holder() : block(seen()) {}
    ~Holder() { free(seen()); free(block); }
    Holder(const Holder &) = delete;
};

SITE static void thrower(int depth)
{
    Holder holder;
    std::vector<int> numbers(depth + 1);
    if (depth == 0)
        throw std::runtime_error(std::string(100, 'x'));
    thrower(depth - 1);
    __asm__ volatile("" ::: "memory");
}

SITE static long catches()
{
    long caught = 0;
    for (int depth = 0; depth < 20; depth += 3) {
        try {
            thrower(depth);
        } catch (const std::exception &error) {
            free(seen());
            caught += strlen(error.what());
        }
    }
    return caught;
}

SITE static void rethrows(int depth)
{
    try {
        depth ? rethrows(depth - 1) : throw depth;
    } catch (int) {
        free(seen());
        throw;
    }
}

struct alignas(256) Wide { char bytes[256]; };

SITE static long operators()
{
    long right = 0;
    std::unique_ptr<int> one(new int(3));
    std::unique_ptr<char[]> many(new char[1234]);
    std::unique_ptr<Wide> wide(new Wide);
    right += reinterpret_cast<uintptr_t>(wide.get()) % alignof(Wide) == 0;
    void *quiet = ::operator new(777, std::nothrow);
    ::operator delete(quiet);
    try {
        volatile size_t much = SIZE_MAX / 2;
        ::operator delete(::operator new(much));
    } catch (const std::bad_alloc &) {
        right++;
    }
    return right;
}

SITE static long containers()
{
    std::map<std::string, std::vector<long>> all;
    for (int i = 0; i < 200; i++)
        all["a key that is too long to be kept inside " + std::to_string(i % 50)].push_back(i);
    long sum = 0;
    for (auto &entry : all)
        for (long number : entry.second)
            sum += number;
    return sum;
}

int main()
{
    seen_begin();
    say("caught:", catches());
    try {
        rethrows(9);
    } catch (int) {
        say("rethrown:", 1);
    }
    say("operators:", operators());
    say("containers:", containers());
    return 0;
}
