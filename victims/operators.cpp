// Every operator new and delete of C++17, and what they do when there is no memory: `operators [rounds=20] [threads=0]
// [forks=0]`. Prints nothing, exits 0.
//
// Everything is touched. First each form of new is called from a site of its own, then `rounds` refusals: bad_alloc, a
// handler that throws, one that jumps away, a nothrow null. After each, deeper functions allocate and map: whoever takes
// them for calls of the operator that was left loses them. The sites' figures are those of 20 rounds. Threads then pass
// blocks to each other, 2,000 a thread, and free them all. A child that is forked deletes 250 blocks that it inherited
// and makes 100 by `by_array`.
#include "victim.h"
#include <atomic>
#include <csetjmp>
#include <cstdint>
#include <memory>
#include <new>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

typedef unsigned char Byte;
struct alignas(128) Wide {
    Byte bytes[1024];
};
struct Left { // by whoever threw it
};

SITE void *by_new(size_t size)
{
    void *p = ::operator new(size); // @site by_new peak=4096000/1000 end=2048000/500
    return touch(keep(p), size);
}

SITE void *by_array(size_t size)
{
    void *p = ::operator new[](size); // @site by_array peak=2048000/500 end=0/0
    return touch(keep(p), size);
}

SITE void *by_nothrow(size_t size)
{
    void *p = ::operator new(size, std::nothrow); // @site by_nothrow peak=1024000/250 end=0/0
    return p ? touch(keep(p), size) : p;
}

SITE void *by_nothrow_array(size_t size)
{
    void *p = ::operator new[](size, std::nothrow); // @site by_nothrow_array peak=819200/200 end=0/0
    return touch(keep(p), size);
}

SITE Wide *by_aligned()
{
    Wide *p = new Wide; // @site by_aligned peak=102400/100 end=0/0
    return reinterpret_cast<uintptr_t>(p) % 128 ? nullptr : static_cast<Wide *>(touch(keep(p), sizeof *p));
}

SITE Wide *by_aligned_array()
{
    Wide *p = new Wide[4]; // @site by_aligned_array peak=409600/100 end=0/0
    return static_cast<Wide *>(touch(keep(p), 4 * sizeof *p));
}

SITE Wide *by_aligned_nothrow()
{
    Wide *p = new (std::nothrow) Wide; // @site by_aligned_nothrow peak=102400/100 end=0/0
    return static_cast<Wide *>(touch(keep(p), sizeof *p));
}

SITE Wide *by_aligned_nothrow_array()
{
    Wide *p = new (std::nothrow) Wide[4]; // @site by_aligned_nothrow_array peak=409600/100 end=0/0
    return static_cast<Wide *>(touch(keep(p), 4 * sizeof *p));
}

SITE void *by_malloc(size_t size)
{
    void *p = malloc(size); // @site by_malloc peak=52428800/50 end=0/0
    return touch(keep(p), size);
}

// ---- no memory ----

static const size_t impossible = SIZE_MAX / 4;
static int handled;
static jmp_buf before;

SITE void new_after(int depth)
{
    if (depth > 0)
        return new_after(depth - 1), (void)keep(nullptr);
    keep(::operator new(48)); // @site new_after peak=3840/80 end=3840/80
}

SITE void malloc_after(int depth)
{
    if (depth > 0)
        return malloc_after(depth - 1), (void)keep(nullptr);
    keep(malloc(24)); // @site malloc_after peak=1920/80 end=1920/80
}

SITE void map_after(int depth)
{
    if (depth > 0)
        return map_after(depth - 1), (void)keep(nullptr);
    void *p = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(p, 4096);
}

SITE void after_refusal(int round)
{
    malloc_after(round % 5);
    new_after(round % 7);
    map_after(round % 5);
}

SITE void kept_by_handler()
{
    keep(::operator new(32)); // @site kept_by_handler peak=640/20 end=640/20
}

static void gives_up()
{
    handled++;
    kept_by_handler();
    std::set_new_handler(nullptr);
}
static void throws() { throw Left(); }
static void jumps() { longjmp(before, 1); }

static int refuse(std::new_handler handler)
{
    std::set_new_handler(handler);
    try {
        keep(::operator new(impossible));
    } catch (const std::bad_alloc &) {
        return 1;
    } catch (const Left &) {
        return 2;
    }
    return 0;
}

SITE int refusals(int round)
{
    int said = refuse(gives_up) == 1;
    after_refusal(round);
    said += refuse(throws) == 2;
    after_refusal(round);
    std::set_new_handler(jumps);
    if (!setjmp(before))
        keep(::operator new[](impossible));
    else
        said++;
    after_refusal(round);
    std::set_new_handler(nullptr);
    said += by_nothrow(impossible) == nullptr;
    after_refusal(round);
    return said == 4;
}

// ---- threads ----

static std::atomic<void *> slots[64];

static void pass_on(int seed)
{
    uint32_t random = uint32_t(seed) * 2654435761u + 1;
    for (int i = 0; i < 2000; i++) {
        random = random * 1664525u + 1013904223u;
        void *mine = (i & 1) ? ::operator new(64 + (random >> 24)) : ::operator new[](64 + (random >> 24));
        void *other = slots[(random >> 16) & 63].exchange(keep(mine));
        (random & 256) ? ::operator delete(other) : ::operator delete[](other);
    }
}

static void in_threads(long count)
{
    std::vector<std::thread> threads;
    for (long i = 0; i < count; i++)
        threads.emplace_back(pass_on, int(i));
    for (auto &thread : threads)
        thread.join();
    for (auto &slot : slots)
        ::operator delete(slot.exchange(nullptr));
}

static void *news[1000], *arrays[500], *nothrows[250], *nothrow_arrays[200], *mallocs[50];
static Wide *wides[100], *wide_arrays[100], *nothrow_wides[100], *nothrow_wide_arrays[100];

static bool fill()
{
    bool good = true;
    for (auto &p : news)
        good &= (p = by_new(4096)) != nullptr;
    for (auto &p : arrays)
        good &= (p = by_array(4096)) != nullptr;
    for (auto &p : nothrows)
        good &= (p = by_nothrow(4096)) != nullptr;
    for (auto &p : nothrow_arrays)
        good &= (p = by_nothrow_array(4096)) != nullptr;
    for (auto &p : wides)
        good &= (p = by_aligned()) != nullptr;
    for (auto &p : wide_arrays)
        good &= (p = by_aligned_array()) != nullptr;
    for (auto &p : nothrow_wides)
        good &= (p = by_aligned_nothrow()) != nullptr;
    for (auto &p : nothrow_wide_arrays)
        good &= (p = by_aligned_nothrow_array()) != nullptr;
    for (auto &p : mallocs)
        good &= (p = by_malloc(1 << 20)) != nullptr;
    return good;
}

// Each form of delete has its turn.
static void empty()
{
    const std::align_val_t wide{128};
    ::operator delete(nullptr);
    for (int i = 0; i < 500; i++)
        i % 2 ? ::operator delete(news[i], 4096) : ::operator delete(news[i]);
    for (int i = 0; i < 500; i++)
        i % 2 ? ::operator delete[](arrays[i], 4096) : ::operator delete[](arrays[i]);
    for (auto p : nothrows)
        ::operator delete(p, std::nothrow);
    for (auto p : nothrow_arrays)
        ::operator delete[](p, std::nothrow);
    for (int i = 0; i < 100; i++) {
        i % 2 ? ::operator delete(wides[i], wide) : ::operator delete(wides[i], sizeof(Wide), wide);
        i % 2 ? ::operator delete[](wide_arrays[i], wide) : ::operator delete[](wide_arrays[i], 4 * sizeof(Wide), wide);
        ::operator delete(nothrow_wides[i], wide, std::nothrow);
        ::operator delete[](nothrow_wide_arrays[i], wide, std::nothrow);
    }
    for (auto p : mallocs)
        free(p);
}

static bool fork_and_delete()
{
    pid_t child = fork();
    if (child == 0) {
        for (int i = 500; i < 750; i++)
            ::operator delete(news[i]);
        for (int i = 0; i < 100; i++)
            by_array(100);
        exit(0);
    }
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char **argv)
{
    long rounds = number(argc, argv, 1, 20), threads = number(argc, argv, 2, 0), forks = number(argc, argv, 3, 0), good = 0;
    for (int i = 0; i < rounds; i++)
        good += refusals(i);
    if (!fill() || good != rounds || handled != rounds)
        return 1;
    empty();
    in_threads(threads);
    return forks && !fork_and_delete() ? 2 : 0;
}
