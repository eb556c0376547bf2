// Blocks of known types. Each line that is printed says one: `type TYPE bytes=N blocks=N`
// and `function NAME bytes=N blocks=N`; `untold` what of untold() is of no type.
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

static const char NAME[] = "deep::Inner<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, 2>";

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
    std::printf("type %s [] bytes=%zu blocks=1\n", NAME, 8 + 3 * sizeof(deep::Inner<std::string, 2>));
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

struct Owner {
    char *bytes;
    Owner() : bytes(keep(new char[333])) {}
};

SITE static char *of_text(const std::string &text)
{
    return keep(static_cast<char *>(::operator new(777 + text.size())));
}

// What a constructor or a function with a string asks for is of no type that is told.
SITE static void untold()
{
    keep(std::make_unique<Owner>().release());
    of_text("");
    std::printf("type Owner bytes=%zu blocks=1\n", sizeof(Owner));
    std::puts("untold (unknown) bytes=1110 blocks=2");
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
    untold();
    plain_new();
    return 0;
}
