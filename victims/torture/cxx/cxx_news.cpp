/* Classes with operators of their own, placement, aligned, sized and nothrow forms, and a constructor that throws: then
 * the matching delete is called by the compiler, and not by the program.
 */
#include "../torture.h"
#include <new>
#include <stdexcept>
#include <vector>

static int live;

struct Own {
    char bytes[100];
    static void *operator new(size_t size) { return live++, keep(malloc(size)); }
    static void operator delete(void *p) { live--, free(p); }
    static void *operator new[](size_t size) { return live++, keep(calloc(1, size)); }
    static void operator delete[](void *p, size_t) { live--, free(p); }
    virtual ~Own() {}
};
struct Derived : Own {
    char more[1000];
};
struct alignas(64) Aligned {
    char bytes[640];
};
struct Throwing {
    std::vector<int> held = std::vector<int>(100);
    explicit Throwing(int n)
    {
        if (n % 2)
            throw std::runtime_error("odd");
    }
};

int main()
{
    int thrown = 0;
    alignas(Aligned) char place[sizeof(Aligned)];
    for (int i = 0; i < 300; i++) {
        Own *own = new Derived, *many = new Own[3];
        delete own;
        delete[] many;
        Aligned *aligned = static_cast<Aligned *>(keep(new Aligned)), *row = new (std::nothrow) Aligned[4];
        CHECK(uintptr_t(aligned) % 64 == 0 && row && uintptr_t(row) % 64 == 0);
        delete aligned;
        ::operator delete(keep(::operator new(50)), size_t(50));
        ::operator delete[](row, std::align_val_t(64));
        CHECK(static_cast<void *>(new (place) Aligned) == place);
        for (bool is_nothrow : {false, true}) {
            try {
                delete (is_nothrow ? new (std::nothrow) Throwing(i) : new Throwing(i));
            } catch (const std::runtime_error &) {
                thrown++;
            }
        }
    }
    CHECK(live == 0);
    say("%d thrown\n", thrown);
    return 0;
}
