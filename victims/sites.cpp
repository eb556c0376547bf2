// C++ with malloc, new, new[], aligned new and a growing vector side by side: `sites_cpp`. Prints nothing, exits 0.
//
// Everything is touched. Peak: 52,428,800 + 13,107,200 + 2,097,152 + 4,194,304 + 6,400,000 bytes; then all is freed
// but what the sites say. libstdc++ itself allocates its emergency pool before main (72,704 bytes on Debian 12), for ever.
#include "victim.h"
#include <memory>
#include <new>
#include <vector>

struct Particle {
    double state[16]; // 128 bytes
};
struct alignas(64) Line {
    char bytes[4096];
};

SITE void *by_malloc()
{
    void *p = malloc(1 << 20); // @site by_malloc peak=52428800/50 end=0/0
    return touch(keep(p), 1 << 20);
}

SITE Particle *by_new()
{
    Particle *p = new Particle(); // @site by_new peak=6400000/50000 end=12800/100
    return static_cast<Particle *>(keep(p));
}

SITE char *by_new_array(size_t bytes)
{
    char *p = new char[bytes]; // @site by_new_array peak=13107200/200 end=65536/1
    return static_cast<char *>(touch(keep(p), bytes));
}

SITE Line *by_aligned_new()
{
    Line *p = new Line; // @site by_aligned_new peak=2097152/512 end=0/0
    return static_cast<Line *>(touch(keep(p), sizeof *p));
}

SITE void by_vector(std::vector<int> &v, int count)
{
    for (int i = 0; i < count; i++)
        v.push_back(i); // @site by_vector peak=4194304/1 end=0/0
}

static void *mallocs[50];
static Particle *particles[50000];
static char *arrays[200];
static Line *lines[512];

int main()
{
    {
        std::vector<int> v;
        by_vector(v, 1 << 20); // doubles 20 times: 21 allocations, 20 releases, and one at the end
        for (auto &p : particles)
            p = by_new();
        for (auto &p : lines)
            p = by_aligned_new();
        for (auto &p : arrays)
            p = by_new_array(65536);
        for (auto &p : mallocs)
            p = by_malloc();
        for (auto &p : mallocs)
            free(p);
    }
    for (int i = 100; i < 50000; i++)
        delete particles[i];
    for (int i = 1; i < 200; i++)
        delete[] arrays[i];
    for (auto p : lines)
        delete p;
    return 0;
}
