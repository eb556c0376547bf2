// Blocks of known types. Each line that is printed says one: `type TYPE bytes=N blocks=N`
// and `function NAME bytes=N blocks=N`.
#include <cstdio>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#define SITE __attribute__((noinline, noclone))

struct Foo { long words[3]; };
struct Bar { char bytes[100]; virtual ~Bar() = default; };
namespace deep { template <class T, int N> struct Inner { T values[N]; }; }

template <class T> static T *keep(T *p)
{
    __asm__ volatile("" : "+r"(p) : : "memory");
    return p;
}

SITE static void vectors()
{
    auto *v = new std::vector<Foo>(10);
    v->push_back(Foo());
    keep(v);
    std::printf("type Foo bytes=%zu blocks=2\n", 30 * sizeof(Foo));
}

SITE static void uniques()
{
    auto bar = std::make_unique<Bar>();
    keep(bar.release());
    auto inner = std::make_unique<deep::Inner<std::string, 2>[]>(3);
    keep(inner.release());
    std::printf("type Bar bytes=%zu blocks=1\n", sizeof(Bar));
}

SITE static void nested()
{
    using Inner = deep::Inner<int, 7>;
    std::vector<Inner> v;
    v.reserve(9);
    keep(v.data());
    std::printf("type deep::Inner<int, 7> bytes=%zu blocks=1\n", 9 * sizeof(Inner));
}

SITE static void plain_new()
{
    keep(new char[123]);
    keep(new Foo);
    keep(::operator new(50));
    std::printf("function plain_new() bytes=%zu blocks=3\n", 123 + sizeof(Foo) + 50);
}

int main()
{
    vectors();
    uniques();
    nested();
    plain_new();
    return 0;
}
