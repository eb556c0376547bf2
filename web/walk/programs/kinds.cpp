// Something for each screen: long C++ names, exactly 2,000 equal blocks, chains of reallocs, mappings, and temporary
// blocks. `kinds` prints nothing, and exits 0.
#include <cstdlib>
#include <map>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

static void *volatile kept[4000];

__attribute__((noinline)) void keep_two_thousand()
{
    for (int i = 0; i < 2000; i++)
        kept[i] = std::malloc(100 + i);
}

__attribute__((noinline)) void grow_text()
{
    char *text = nullptr;
    for (int i = 1; i <= 50; i++)
        text = static_cast<char *>(std::realloc(text, i * 1000));
    kept[2000] = text;
}

template <typename Key, typename Value> struct Index {
    std::map<Key, std::vector<std::pair<Key, Value>>> rows;
    __attribute__((noinline)) void add(const Key &key, const Value &value) { rows[key].emplace_back(key, value); }
};

__attribute__((noinline)) void fill_index()
{
    static Index<std::string, std::map<std::string, std::vector<std::pair<std::string, double>>>> index;
    for (int i = 0; i < 300; i++)
        index.add("a key that is longer than what a string holds itself " + std::to_string(i), {});
}

__attribute__((noinline)) void map_some()
{
    for (int i = 0; i < 3; i++) {
        char *mapped = static_cast<char *>(mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        for (int page = 0; i > 0 && page < 256; page += 2)
            mapped[page << 12] = 1;
    }
}

__attribute__((noinline)) void throw_away()
{
    for (int i = 0; i < 1000; i++) {
        void *volatile block = std::malloc(10 + i);
        std::free(block);
    }
}

int main()
{
    void (*const all[])() = {keep_two_thousand, grow_text, fill_index, map_some, throw_away};
    for (auto *one : all) {
        one();
        usleep(30000);
    }
    return 0;
}
