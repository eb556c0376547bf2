/* Mappings whose truth is known: `maps known` maps, cuts, moves, covers and unmaps in
 * every way; `maps mix SEED STEPS` does so at random. Both print one line a fact: what
 * each SITE function has mapped at the end, has mapped in all, and with how many calls;
 * `known` also each mapping that is there at the end. */
#include "../../victims/victim.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 65536ul

struct facts {
    size_t bytes, mappings, total_bytes, calls, unmapped_bytes, largest_bytes, reserved_bytes;
};

static void tell(const char *name, struct facts f)
{
    printf("site %s bytes=%zu mappings=%zu total_bytes=%zu calls=%zu unmapped_bytes=%zu largest_bytes=%zu reserved_bytes=%zu\n",
           name, f.bytes, f.mappings, f.total_bytes, f.calls, f.unmapped_bytes, f.largest_bytes, f.reserved_bytes);
}

/* What is there at the end. */
static void lists(const char *function, const char *name, void *p, size_t pages, const char *access)
{
    printf("list %s %s %#lx %zu %s\n", function, name, (unsigned long)(uintptr_t)p, pages * PAGE, access);
}

/* No function: the one that asks is the one that calls. */
#define MAP_AT(where, pages, prot, flags) \
    keep_mapping(mmap(where, (pages) * PAGE, prot, MAP_ANONYMOUS | (flags), -1, 0))

static void *keep_mapping(void *p)
{
    if (p == MAP_FAILED)
        _exit(3);
    return p;
}

static void unmap(void *p, size_t from, size_t pages)
{
    if (munmap((char *)p + from * PAGE, pages * PAGE))
        _exit(4);
}

#define RW (PROT_READ | PROT_WRITE)
#define ANON MAP_PRIVATE

/* Eight pages; of them three go amid: two parts stay. */
SITE static void splits(void)
{
    void *p = MAP_AT(NULL, 8, RW, ANON);
    unmap(p, 2, 3);
    lists("mmap", "splits", p, 2, "rw-p");
    lists("mmap", "splits", (char *)p + 5 * PAGE, 3, "rw-p");
    tell("splits", (struct facts){5 * PAGE, 2, 8 * PAGE, 1, 3 * PAGE, 8 * PAGE, 0});
}

/* What was mapped here is of who maps over it. */
SITE static void *below(void)
{
    void *p = MAP_AT(NULL, 16, PROT_NONE, ANON);
    lists("mmap", "below", p, 4, "---p");
    lists("mmap", "below", (char *)p + 6 * PAGE, 10, "---p");
    tell("below", (struct facts){14 * PAGE, 2, 16 * PAGE, 1, 2 * PAGE, 16 * PAGE, 14 * PAGE});
    return p;
}

SITE static void covers(char *p)
{
    MAP_AT(p + 4 * PAGE, 2, RW, ANON | MAP_FIXED);
    lists("mmap", "covers", p + 4 * PAGE, 2, "rw-p");
    tell("covers", (struct facts){2 * PAGE, 1, 2 * PAGE, 1, 0, 2 * PAGE, 0});
}

/* It grows where it cannot stay, and then shrinks. */
SITE static void moves(void)
{
    char *p = MAP_AT(NULL, 4, RW, MAP_SHARED);
    MAP_AT(p + 3 * PAGE, 1, RW, MAP_SHARED | MAP_FIXED);
    char *q = mremap(p, 3 * PAGE, 9 * PAGE, MREMAP_MAYMOVE);
    if (q == MAP_FAILED || q == p)
        _exit(5);
    if (mremap(q, 9 * PAGE, 7 * PAGE, 0) != q)
        _exit(6);
    lists("mmap", "moves", p + 3 * PAGE, 1, "rw-s");
    lists("mremap", "moves", q, 7, "rw-s");
    tell("moves", (struct facts){8 * PAGE, 2, 21 * PAGE, 4, 13 * PAGE, 9 * PAGE, 0});
}

SITE static void goes(void)
{
    for (int i = 0; i < 5; i++)
        unmap(MAP_AT(NULL, 3, PROT_READ, ANON), 0, 3);
    tell("goes", (struct facts){0, 0, 15 * PAGE, 5, 15 * PAGE, 3 * PAGE, 0});
}

SITE static void breaks(void)
{
    char *p = sbrk(6 * PAGE);
    if (p == (void *)-1 || sbrk(-2 * (long)PAGE) == (void *)-1)
        _exit(7);
    lists("brk", "breaks", p, 4, "rw-p");
    tell("breaks", (struct facts){4 * PAGE, 1, 6 * PAGE, 1, 2 * PAGE, 6 * PAGE, 0});
}

SITE static int known(void)
{
    splits();
    covers(below());
    moves();
    goes();
    breaks();
    return 0;
}

/* A row of pages, each with the call that mapped it, 0 where nobody has: a hole that is
 * anybody's, so nothing is ever mapped over it by force. */
enum { PAGES = 256, CALLS = 20000, SITES = 4 };
static struct { int site; size_t pages; } calls[CALLS];
static int owner[PAGES], last_call;
static char *row;

static void came(int site, size_t from, size_t pages)
{
    last_call++;
    calls[last_call].site = site;
    calls[last_call].pages = pages;
    for (size_t i = from; i < from + pages; i++)
        owner[i] = last_call;
}

static int is_owned(size_t from, size_t pages)
{
    for (size_t i = from; i < from + pages; i++)
        if (!owner[i])
            return 0;
    return 1;
}

static int is_hole(size_t from, size_t pages)
{
    for (size_t i = from; i < from + pages; i++)
        if (owner[i])
            return 0;
    return 1;
}

static int is_of_one(size_t from, size_t pages)
{
    for (size_t i = from; i < from + pages; i++)
        if (!owner[i] || owner[i] != owner[from])
            return 0;
    return 1;
}

SITE static void reserve(void)
{
    row = MAP_AT(NULL, PAGES, RW, ANON);
    came(0, 0, PAGES);
}

SITE static void cover(size_t from, size_t pages)
{
    MAP_AT(row + from * PAGE, pages, RW, ANON | MAP_FIXED);
    came(1, from, pages);
}

SITE static void fill(size_t from, size_t pages)
{
    void *where = row + from * PAGE;
    int flags = MAP_ANONYMOUS | MAP_PRIVATE | MAP_FIXED_NOREPLACE;
    if (mmap(where, pages * PAGE, RW, flags, -1, 0) == where)
        came(2, from, pages);
}

SITE static void move(size_t from, size_t pages, size_t to, size_t new_pages)
{
    void *where = row + to * PAGE;
    int flags = MREMAP_MAYMOVE | MREMAP_FIXED;
    if (mremap(row + from * PAGE, pages * PAGE, new_pages * PAGE, flags, where) != where)
        _exit(8);
    memset(&owner[from], 0, pages * sizeof *owner);
    came(3, to, new_pages);
}

static size_t below_number(uint64_t *state, size_t end)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % end;
}

static void step(uint64_t *state)
{
    size_t from = below_number(state, PAGES - 20), pages = 1 + below_number(state, 16);
    size_t to = below_number(state, PAGES - 20), more = 1 + below_number(state, 16);
    switch (below_number(state, 4)) {
    case 0:
        if (is_owned(from, pages))
            cover(from, pages);
        break;
    case 1:
        if (is_hole(from, pages))
            fill(from, pages);
        break;
    case 2:
        if (is_of_one(from, pages) && is_owned(to, more) && (to + more <= from || from + pages <= to))
            move(from, pages, to, more);
        break;
    default:
        if (is_owned(from, pages)) {
            unmap(row, from, pages);
            memset(&owner[from], 0, pages * sizeof *owner);
        }
    }
}

SITE static int mix(long seed, long steps)
{
    static const char *const names[SITES] = {"reserve", "cover", "fill", "move"};
    uint64_t state = (uint64_t)seed;
    reserve();
    for (long i = 0; i < steps && last_call + 1 < CALLS; i++) {
        step(&state);
        if (i % 64 == 0)
            usleep(3000);
    }
    for (int site = 0; site < SITES; site++) {
        struct facts f = {0};
        for (int call = 1; call <= last_call; call++) {
            size_t bytes = calls[call].pages * PAGE;
            if (calls[call].site != site)
                continue;
            f.calls++;
            f.total_bytes += bytes;
            f.largest_bytes = bytes > f.largest_bytes ? bytes : f.largest_bytes;
        }
        for (int i = 0; i < PAGES; i++)
            if (owner[i] && calls[owner[i]].site == site) {
                f.bytes += PAGE;
                f.mappings += i == 0 || owner[i - 1] != owner[i];
            }
        f.unmapped_bytes = f.total_bytes - f.bytes;
        tell(names[site], f);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "known"))
        return known();
    if (argc > 1 && !strcmp(argv[1], "mix"))
        return mix(number(argc, argv, 2, 1), number(argc, argv, 3, 1000));
    return 2;
}
