/* A plugin that takes memory in every usual way, in its constructor too, and knows how much: for deep_host. */
#include "victim.h"
#include <cstring>
#include <memory>
#include <vector>

namespace {
struct Block {
    void *at;
    bool is_new;
};
std::vector<Block> *blocks;
unsigned long long calls, bytes;

void hold(void *at, size_t size, bool is_new = false)
{
    if (!at)
        abort();
    memset(at, 'x', size - 1);
    calls++;
    bytes += size;
    blocks->push_back({at, is_new});
}

struct Early {
    char *block = new char[300000];
    Early()
    {
        memset(block, 1, 300000);
        calls++;
        bytes += 300000;
    }
    ~Early() { delete[] block; }
} early;
} // namespace

extern "C" {
/* Takes some 25 MB; how much in all since the plugin was loaded. */
SITE unsigned long long plug_take(unsigned long long *all_calls)
{
    blocks = new std::vector<Block>;
    blocks->reserve(1000);
    for (int i = 0; i < 50; i++) {
        hold(malloc(100000), 100000);
        hold(calloc(10, 10000), 100000);
        hold(realloc(malloc(10), 100000), 100000);
        calls++;
        bytes += 10;
        hold(new char[100000], 100000, true);
        char *text = (char *)malloc(100000);
        hold(text, 100000);
        text[99999] = 0;
#ifdef OWN_ONLY /* what libc allocates for it may be another allocator's */
        hold(malloc(100000), 100000);
#else
        hold(strdup(text), 100000);
#endif
        void *aligned = nullptr;
        if (posix_memalign(&aligned, 4096, 100000))
            abort();
        hold(aligned, 100000);
    }
    *all_calls = calls;
    return bytes;
}

/* The next block for somebody else to free; null at the end. */
SITE void *plug_give(void)
{
    while (!blocks->empty()) {
        Block last = blocks->back();
        blocks->pop_back();
        if (!last.is_new)
            return last.at;
        delete[] (char *)last.at;
    }
    return nullptr;
}

SITE void plug_drop(void)
{
    while (void *block = plug_give())
        free(block);
    delete blocks;
}
}
