/* std::pmr: arenas that take large blocks, give out pieces of them, and release all at once, also through a resource of
 * the program's that throws.
 */
#include "../torture.h"
#include <map>
#include <memory_resource>
#include <string>
#include <thread>
#include <vector>

struct Limited : std::pmr::memory_resource {
    size_t left = 200000;
    void *do_allocate(size_t size, size_t alignment) override
    {
        if (size > left)
            throw std::bad_alloc();
        left -= size;
        return std::pmr::new_delete_resource()->allocate(size, alignment);
    }
    void do_deallocate(void *p, size_t size, size_t alignment) override
    {
        left += size;
        std::pmr::new_delete_resource()->deallocate(p, size, alignment);
    }
    bool do_is_equal(const memory_resource &other) const noexcept override { return this == &other; }
};

static size_t fill(std::pmr::memory_resource *resource, int count)
{
    std::pmr::map<int, std::pmr::string> table(resource);
    for (int i = 0; i < count; i++)
        table[i % 97] = std::pmr::string(size_t(i % 300), 'x', resource);
    return table.size();
}

int main()
{
    std::pmr::synchronized_pool_resource shared;
    auto work = [&shared] { CHECK(fill(&shared, 1000) == 97); };
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back(work);
    for (int i = 0; i < 20; i++) {
        std::pmr::monotonic_buffer_resource arena(100);
        std::pmr::unsynchronized_pool_resource pool(&arena);
        CHECK(fill(&pool, 300) == 97);
    }
    Limited limited;
    bool was_full = false;
    try {
        std::pmr::monotonic_buffer_resource arena(&limited);
        for (;;)
            CHECK(fill(&arena, 100));
    } catch (const std::bad_alloc &) {
        was_full = true;
    }
    CHECK(was_full && limited.left == 200000);
    for (auto &thread : threads)
        thread.join();
    say("arenas\n");
    return 0;
}
