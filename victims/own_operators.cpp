// An allocator whose operator new does not end in malloc, as those of tcmalloc, jemalloc and mimalloc: `own_operators.so`.
//
// malloc's family and the operators call the same internals, and none of them another by a name that could be taken
// over. Blocks lie in one reserved range by powers of two from 16 bytes on, a free list each; 64 MiB is the most that
// operator new gives, so that more means std::bad_alloc or std::set_new_handler's function.
//
// With OWN_OPERATORS_COUNT=FILE in the environment each process appends `OPERATORS PID NEWS DELETES` to FILE at its
// end: the calls that gave a block, and those that took one. -DONLY_SCALAR leaves out what is not in C++98, and
// -DBY_MALLOC lets the operators end in malloc after all. With -DNO_RUNTIME -fno-exceptions it needs no C++
// library, and lack of memory ends the program.
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace {

const size_t reserved = size_t(8) << 30, most = size_t(64) << 20;
const int classes = 28;

struct Free {
    Free *next;
};
struct Head { // before each block
    uint32_t kind;
    uint32_t back; // from the block to where it begins
};

std::atomic_flag lock = ATOMIC_FLAG_INIT;
char *base, *top;
Free *lists[classes];
std::atomic<long> news, deletes;

struct Locked {
    Locked()
    {
        while (lock.test_and_set(std::memory_order_acquire))
            usleep(0);
    }
    ~Locked() { lock.clear(std::memory_order_release); }
};

size_t bytes_of(int kind) { return size_t(16) << kind; }

void *obtain(size_t size, size_t alignment)
{
    size_t room = size + sizeof(Head) + (alignment > 16 ? alignment : 16);
    int kind = 0;
    while (kind < classes && bytes_of(kind) < room)
        kind++;
    if (size > most || kind == classes)
        return nullptr;
    char *start;
    {
        Locked locked;
        if (!base) {
            void *range = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (range == MAP_FAILED)
                return nullptr;
            base = top = static_cast<char *>(range);
        }
        if (lists[kind]) {
            start = reinterpret_cast<char *>(lists[kind]);
            lists[kind] = lists[kind]->next;
        } else if (size_t(base + reserved - top) < bytes_of(kind)) {
            return nullptr;
        } else {
            start = top;
            top += bytes_of(kind);
        }
    }
    uintptr_t at = reinterpret_cast<uintptr_t>(start) + sizeof(Head), mask = (alignment > 16 ? alignment : 16) - 1;
    char *block = reinterpret_cast<char *>((at + mask) & ~mask);
    Head head = {uint32_t(kind), uint32_t(block - start)};
    memcpy(block - sizeof head, &head, sizeof head);
    return block;
}

Head head_of(const void *block)
{
    Head head;
    memcpy(&head, static_cast<const char *>(block) - sizeof head, sizeof head);
    return head;
}

size_t usable(const void *block)
{
    Head head = head_of(block);
    return bytes_of(int(head.kind)) - head.back;
}

void give_back(void *block)
{
    if (!block)
        return;
    Head head = head_of(block);
    // A large block's pages go, so that the largest resident set is where most is live.
    if (bytes_of(int(head.kind)) >= size_t(1) << 20)
        madvise(reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(block) + 4095) & ~uintptr_t(4095)),
                bytes_of(int(head.kind)) / 2, MADV_DONTNEED);
    Free *freed = reinterpret_cast<Free *>(static_cast<char *>(block) - head.back);
    Locked locked;
    freed->next = lists[head.kind];
    lists[head.kind] = freed;
}

void *obtained(size_t size, size_t alignment)
{
    void *block = obtain(size, alignment);
    if (!block)
        errno = ENOMEM;
    return block;
}

#ifdef BY_MALLOC
#define INSIDE_NEW(size, alignment) (alignment > 16 ? aligned_alloc(alignment, size) : malloc(size))
#define INSIDE_DELETE(block) free(block)
#else
#define INSIDE_NEW(size, alignment) obtain(size, alignment)
#define INSIDE_DELETE(block) give_back(block)
#endif

__attribute__((always_inline)) inline void *create(size_t size, size_t alignment)
{
    for (;;) {
        void *block = INSIDE_NEW(size, alignment);
        if (block) {
            news++;
            return block;
        }
#ifdef NO_RUNTIME
        abort();
#else
        std::new_handler handler = std::get_new_handler();
        if (!handler)
            throw std::bad_alloc();
        handler();
#endif
    }
}

__attribute__((always_inline)) inline void *try_create(size_t size, size_t alignment) noexcept
{
#ifdef NO_RUNTIME
    return create(size, alignment);
#else
    try {
        return create(size, alignment);
    } catch (...) {
        return nullptr;
    }
#endif
}

__attribute__((always_inline)) inline void destroy(void *block)
{
    if (block)
        deletes++;
    INSIDE_DELETE(block);
}

__attribute__((destructor)) void tell()
{
    const char *path = getenv("OWN_OPERATORS_COUNT");
    FILE *file = path ? fopen(path, "a") : nullptr;
    if (!file)
        return;
    long came = news, went = deletes;
    fprintf(file, "OPERATORS %d %ld %ld\n", int(getpid()), came, went);
    fclose(file);
}

} // namespace

extern "C" {
void *malloc(size_t size) { return obtained(size, 16); }
void free(void *block) { give_back(block); }
size_t malloc_usable_size(void *block) { return block ? usable(block) : 0; }
void *memalign(size_t alignment, size_t size) { return obtained(size, alignment); }
void *aligned_alloc(size_t alignment, size_t size) { return obtained(size, alignment); }
void *valloc(size_t size) { return obtained(size, 4096); } // or libc's malloc comes along in a static program
void *calloc(size_t count, size_t each)
{
    size_t size;
    void *block = __builtin_mul_overflow(count, each, &size) ? nullptr : obtained(size, 16);
    return block ? memset(block, 0, size) : nullptr;
}
void *realloc(void *block, size_t size)
{
    if (!block)
        return obtained(size, 16);
    void *fresh = obtained(size, 16);
    if (fresh) {
        memcpy(fresh, block, usable(block) < size ? usable(block) : size);
        give_back(block);
    }
    return fresh;
}
int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *block = obtain(size, alignment);
    if (!block)
        return ENOMEM;
    *out = block;
    return 0;
}
}

void *operator new(size_t size) { return create(size, 16); }
void operator delete(void *block) noexcept { destroy(block); }
#ifndef ONLY_SCALAR
void *operator new[](size_t size) { return create(size, 16); }
void *operator new(size_t size, const std::nothrow_t &) noexcept { return try_create(size, 16); }
void *operator new[](size_t size, const std::nothrow_t &) noexcept { return try_create(size, 16); }
void *operator new(size_t size, std::align_val_t a) { return create(size, size_t(a)); }
void *operator new[](size_t size, std::align_val_t a) { return create(size, size_t(a)); }
void *operator new(size_t size, std::align_val_t a, const std::nothrow_t &) noexcept { return try_create(size, size_t(a)); }
void *operator new[](size_t size, std::align_val_t a, const std::nothrow_t &) noexcept { return try_create(size, size_t(a)); }
void operator delete[](void *block) noexcept { destroy(block); }
void operator delete(void *block, size_t) noexcept { destroy(block); }
void operator delete[](void *block, size_t) noexcept { destroy(block); }
void operator delete(void *block, std::align_val_t) noexcept { destroy(block); }
void operator delete[](void *block, std::align_val_t) noexcept { destroy(block); }
void operator delete(void *block, size_t, std::align_val_t) noexcept { destroy(block); }
void operator delete[](void *block, size_t, std::align_val_t) noexcept { destroy(block); }
void operator delete(void *block, const std::nothrow_t &) noexcept { destroy(block); }
void operator delete[](void *block, const std::nothrow_t &) noexcept { destroy(block); }
void operator delete(void *block, std::align_val_t, const std::nothrow_t &) noexcept { destroy(block); }
void operator delete[](void *block, std::align_val_t, const std::nothrow_t &) noexcept { destroy(block); }
#endif
