// A C++ program that only uses new and delete, from templates in a namespace: `only_new`. Prints nothing, exits 0.
//
// Peak: zoo::make<Cat> 100,000 x 100 bytes, zoo::make<Whale> 40 x 1,000,000 bytes, zoo::Herd::grow 64 x 65,536 bytes
// by new[]. At the end 10 whales, 1,000 cats and no herd are left.
// The two instances of make share a line; tell them apart by the function's template argument. Before main libstdc++
// allocates its emergency pool (72,704 bytes on Debian 12).
#include "victim.h"

namespace zoo {

struct Cat {
    char body[100];
};
struct Whale {
    char body[1000000];
};

template <typename Animal> SITE Animal *make()
{
    Animal *a = new Animal; // @site make<zoo::Cat> peak=10000000/100000 end=100000/1000 @site make<zoo::Whale> peak=40000000/40 end=10000000/10
    return static_cast<Animal *>(touch(keep(a), sizeof *a));
}

class Herd {
    char *pens_[64];
    int used_ = 0;

public:
    SITE void grow()
    {
        char *pen = new char[65536]; // @site grow peak=4194304/64 end=0/0
        pens_[used_++] = static_cast<char *>(touch(keep(pen), 65536));
    }
    ~Herd()
    {
        while (used_)
            delete[] pens_[--used_];
    }
};

} // namespace zoo

static zoo::Cat *cats[100000];
static zoo::Whale *whales[40];

int main()
{
    {
        zoo::Herd herd;
        for (int i = 0; i < 64; i++)
            herd.grow();
        for (auto &cat : cats)
            cat = zoo::make<zoo::Cat>();
        for (auto &whale : whales)
            whale = zoo::make<zoo::Whale>();
        for (int i = 10; i < 40; i++)
            delete whales[i];
    }
    for (int i = 1000; i < 100000; i++)
        delete cats[i];
    return 0;
}
