// libleaves.so: gives a block, throws, or has its caller leave by a jump.
#include <cstdlib>
#include <new>

extern "C" void leave();

extern "C" void *named_get(size_t size, int what) {
    if (what == 1) throw std::bad_alloc();
    if (what == 2) leave();
    return malloc(size);
}

extern "C" void named_put(void *block) { free(block); }
