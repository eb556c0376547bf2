// Asks for memory in the ways of C++, the same in every run. It prints nothing.
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#define SITE __attribute__((noipa))

template <class T> static T *keep(T *p)
{
    __asm__ volatile("" : "+r"(p) : : "memory");
    return p;
}

struct Wide { long words[8]; };
struct alignas(128) Aligned { char bytes[256]; };

SITE static int *one() { return keep(new int(7)); }
SITE static Wide *several() { return keep(new Wide[25]); }
SITE static Aligned *aligned() { return keep(new Aligned); }
SITE static void leaks_one() { keep(new char[4321]); }
SITE static void fails_quietly() { delete[] keep(new (std::nothrow) char[99]); }

SITE static void fills(std::vector<Wide> &list)
{
    for (int i = 0; i < 1000; i++)
        list.push_back(Wide());
}

SITE static void maps(std::map<int, std::string> &names)
{
    for (int i = 0; i < 200; i++)
        names[i] = std::string(520 + i, 'x');
}

SITE static void passes_by()
{
    for (int i = 1; i < 40; i++)
        delete keep(new Wide());
}

static char *last;

// It gets a block and gives one back: events on one address are in order, and so is all
// that lies between.
SITE static void threads_work(char *first)
{
    delete[] first;
    {
        std::vector<Wide> list;
        fills(list);
        passes_by();
    }
#ifndef NO_ORDER
    last = keep(new char[24]);
#endif
}

int main()
{
    int *p = one();
    Wide *q = several();
    Aligned *a = aligned();
    {
        std::vector<Wide> list;
        fills(list);
        std::map<int, std::string> names;
        maps(names);
        leaks_one();
        std::free(keep(std::malloc(31)));
        passes_by();
#ifdef NO_ORDER
        std::thread(threads_work, nullptr).join();
#else
        std::thread(threads_work, keep(new char[23])).join();
        delete[] last;
#endif
    }
    fails_quietly();
    delete p;
    delete[] q;
    delete a;
    return 0;
}
