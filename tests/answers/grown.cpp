// As grown.c, in C++: lambdas, templates, a namespace without a name, a method.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#ifndef GROWN
#define GROWN 0
#endif
#define KEPT __attribute__((noinline, noclone))

static std::vector<std::unique_ptr<char[]>> kept;

namespace {
KEPT void hides(size_t bytes) { kept.emplace_back(new char[bytes]()); }
#ifdef OTHER_ORDER
KEPT void more() { kept.emplace_back(new char[1]()); }
#endif
} // namespace

template <class T> struct Store {
  std::vector<T> all;
  KEPT void plants(int items) {
    for (int n = 0; n < items; n++)
      kept.emplace_back(new char[sizeof(T) + 4000 + GROWN]());
  }
};

KEPT void calls(const std::function<void()> &what) { what(); }

int main() {
  kept.reserve(100000);
#ifdef OTHER_ORDER
  auto idle = [] { return 3; };
  calls([&] { (void)idle(); });
#endif
  calls([] { kept.emplace_back(new char[9000]()); });
  hides(5000);
  Store<std::string> strings;
  Store<int> numbers;
  strings.plants(64);
  numbers.plants(1);
  std::puts("done");
  std::_Exit(0);
}
