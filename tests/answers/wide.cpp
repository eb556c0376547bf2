// Names as long as templates make them: `wide` allocates in a few of them, grows a block
// by realloc, maps memory, and frees some.
#include "../../victims/victim.h"
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unordered_map>
#include <vector>

namespace a_company::a_product::networking::transport {
template <typename Key, typename Value, typename Compare = std::less<Key>> struct ConnectionRegistry {
    std::map<Key, std::vector<Value>, Compare> connections;
    void *arena = nullptr;
    size_t size = 0;

    SITE void register_all_pending_connections(Key const &key, std::vector<Value> const &values)
    {
        auto &list = connections[key];
        list.insert(list.end(), values.begin(), values.end());
    }

    SITE void grow_arena_for_outstanding_requests(std::unordered_map<std::string, Key> const &)
    {
        size = size ? size * 2 : 1000;
        arena = keep(realloc(arena, size));
    }

    SITE void map_shared_region_between_workers(std::function<void(Key const &, Value const &)> const &)
    {
        keep(mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    }
};
}

using Registry = a_company::a_product::networking::transport::ConnectionRegistry<
    std::pair<std::string, std::vector<unsigned long>>, std::shared_ptr<std::map<std::string, std::string>>>;

int main()
{
    Registry registry;
    auto value = std::make_shared<std::map<std::string, std::string>>();
    for (int i = 0; i < 2000; i++) {
        std::string name = "connection number " + std::to_string(i % 50);
        registry.register_all_pending_connections({name, {1, 2, 3}}, {value, value});
        if (i % 200 == 0)
            registry.grow_arena_for_outstanding_requests({{name, {}}});
    }
    registry.map_shared_region_between_workers([](auto const &, auto const &) {});
    std::thread([&] { registry.register_all_pending_connections({"another thread's connection", {}}, {value}); }).join();
    return 0;
}
