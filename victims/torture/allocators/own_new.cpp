/* The program replaces every operator new and delete of C++17, with malloc below: sized, aligned and nothrow ones too.
 * Both libstdc++ and a plugin use them.
 *
 * @flags -ldl
 */
#include "../loader.h"
#include <map>
#include <memory>
#include <new>
#include <string>

static long made, gone;

static void *make(size_t size, size_t alignment)
{
    __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
    void *block = alignment > 16 ? aligned_alloc(alignment, size) : malloc(size);
    CHECK(block);
    return block;
}

static void end(void *block)
{
    __atomic_add_fetch(&gone, block != nullptr, __ATOMIC_RELAXED);
    free(block);
}

using Align = std::align_val_t;
using Nothrow = std::nothrow_t;
void *operator new(size_t n) { return make(n, 1); }
void *operator new[](size_t n) { return make(n, 1); }
void *operator new(size_t n, const Nothrow &) noexcept { return make(n, 1); }
void *operator new[](size_t n, const Nothrow &) noexcept { return make(n, 1); }
void *operator new(size_t n, Align a) { return make(n, size_t(a)); }
void *operator new[](size_t n, Align a) { return make(n, size_t(a)); }
void *operator new(size_t n, Align a, const Nothrow &) noexcept { return make(n, size_t(a)); }
void *operator new[](size_t n, Align a, const Nothrow &) noexcept { return make(n, size_t(a)); }
void operator delete(void *p) noexcept { end(p); }
void operator delete[](void *p) noexcept { end(p); }
void operator delete(void *p, size_t) noexcept { end(p); }
void operator delete[](void *p, size_t) noexcept { end(p); }
void operator delete(void *p, const Nothrow &) noexcept { end(p); }
void operator delete[](void *p, const Nothrow &) noexcept { end(p); }
void operator delete(void *p, Align) noexcept { end(p); }
void operator delete[](void *p, Align) noexcept { end(p); }
void operator delete(void *p, size_t, Align) noexcept { end(p); }
void operator delete[](void *p, size_t, Align) noexcept { end(p); }
void operator delete(void *p, Align, const Nothrow &) noexcept { end(p); }
void operator delete[](void *p, Align, const Nothrow &) noexcept { end(p); }

struct alignas(128) Wide {
    char bytes[256];
};

int main()
{
    std::map<int, std::string> table;
    for (int i = 0; i < 300; i++) {
        table[i % 40] = std::string(size_t(i), 'x');
        auto wide = std::make_unique<Wide[]>(size_t(i % 5 + 1));
        CHECK(uintptr_t(wide.get()) % 128 == 0);
        delete static_cast<int *>(keep(new (std::nothrow) int(i)));
        delete[] static_cast<char *>(keep(new char[100]));
        delete static_cast<Wide *>(keep(new (std::nothrow) Wide));
    }
    void *handle = load("plug_cxx", RTLD_NOW);
    long before = made;
    CHECK(reinterpret_cast<size_t (*)(int)>(find(handle, "cxx_work"))(30) == 30 * 31 / 2 && made > before + 30);
    CHECK(dlclose(handle) == 0);
    table.clear();
    CHECK(made > 1200 && gone > 1200 && gone <= made);
    say("replaced\n");
    return 0;
}
