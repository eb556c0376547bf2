/* stackfuzz: code that goes, and other code with other frames at the very same addresses: libraries, and functions made at
 * run time with unwind tables that are registered and taken away; or without any.
 *
 * The two of a pair are called so that the sp below them is equal, and find on the stack what the other left there.
 */
#define _GNU_SOURCE
#include "stackfuzz.h"
#include <alloca.h>
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SMALL = 400, LARGE = 2000, PAGE = 4096 };
long replaced;
typedef void called(struct fuzz *f, int depth, technique *next);

/* The same turns each time, so that the stack below is the same. */
SITE static void below_code(struct fuzz *f, int depth)
{
    uint64_t random = f->random;
    f->random = 11;
    for (int i = 0; i < 6; i++)
        turn(f);
    f->random = random;
    go(f, depth);
}

/* Calls it with so much less on the stack as its frame is larger; from two places. */
SITE static void call_at(called *code, struct fuzz *f, int depth, size_t pad)
{
    char *p = alloca(pad);
    if (pad < LARGE)
        code(f, depth, below_code);
    else
        code(f, depth, below_code);
    used(p);
}

static int path_of(char *path, size_t size, const char *name)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 40);
    if (length <= 0)
        return 0;
    path[length] = 0;
    strcpy(strrchr(path, '/') + 1, name);
    return 1;
}

/* Opens the one and the other in turn: each is gone before the next comes. */
SITE static void plugins(struct fuzz *f, int depth)
{
    static const char *const names[] = {"stackfuzz_small.so", "stackfuzz_large.so"};
    static const size_t frames[] = {SMALL, LARGE};
    called *last = NULL;
    struct limits was = bar(f);
    for (unsigned i = 0, which = below(f, 2); i < 3; i++, which ^= 1) {
        char path[4096];
        void *library = path_of(path, sizeof path, names[which]) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
        called *code = library ? (called *)dlsym(library, "plugin_go") : NULL;
        if (!code)
            abort();
        if (code == last)
            __atomic_add_fetch(&replaced, 1, __ATOMIC_RELAXED);
        last = code;
        call_at(code, f, depth < 3 ? depth : 3, SMALL + LARGE - frames[which]);
        dlclose(library);
    }
    f->now = was;
}

#ifdef __x86_64__
extern void __register_frame(void *table);
extern void __deregister_frame(void *table);

enum code { TABLED, UNTABLED, FRAMED };

/* sub $FRAME,%rsp; [mov $1,%ebp, which is saved; or mov %rsp,%rbp before]; call *%rdx; add $FRAME,%rsp; ret */
static size_t write_code(unsigned char *to, uint32_t frame, enum code kind)
{
    static const unsigned char tabled[] = {0x48, 0x81, 0xec, 0, 0, 0, 0, 0xff, 0xd2, 0x48, 0x81, 0xc4, 0, 0, 0, 0, 0xc3};
    static const unsigned char untabled[] = {0x55, 0x48, 0x81, 0xec, 0,    0,    0, 0, 0xbd, 1, 0,    0,
                                             0,    0xff, 0xd2, 0x48, 0x81, 0xc4, 0, 0, 0,    0, 0x5d, 0xc3};
    static const unsigned char framed[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x81, 0xec, 0, 0, 0,   0,
                                           0xff, 0xd2, 0x48, 0x81, 0xc4, 0,    0,    0, 0, 0x5d, 0xc3};
    static const struct {
        const unsigned char *bytes;
        size_t size, down, up;
    } all[] = {{tabled, sizeof tabled, 3, 12}, {untabled, sizeof untabled, 4, 18}, {framed, sizeof framed, 7, 16}};
    memcpy(to, all[kind].bytes, all[kind].size);
    memcpy(to + all[kind].down, &frame, 4);
    memcpy(to + all[kind].up, &frame, 4);
    return all[kind].size;
}

/* .eh_frame with one function: a CIE, an FDE, the end. Addresses are absolute. */
static void write_table(unsigned char *to, const unsigned char *code, size_t size, uint32_t frame)
{
    static const unsigned char cie[] = {20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0, 0, 0, 0, 0};
    const uint32_t length = 36, back = sizeof cie + 4;
    const uint64_t low = (uint64_t)(uintptr_t)code, bytes = size;
    memset(to, 0, 128);
    memcpy(to, cie, sizeof cie);
    to += sizeof cie;
    memcpy(to, &length, 4);
    memcpy(to + 4, &back, 4);
    memcpy(to + 8, &low, 8);
    memcpy(to + 16, &bytes, 8);
    to += 24;
    *to++ = 0x40 + 7; /* after the sub */
    *to++ = 0x0e;     /* the CFA is rsp + frame + 8 */
    *to++ = (unsigned char)(((frame + 8) & 0x7f) | 0x80);
    *to++ = (unsigned char)((frame + 8) >> 7);
    *to++ = 0x40 + 9; /* after the add */
    *to++ = 0x0e;
    *to++ = 8;
}

SITE static unsigned char *code_page(void)
{
    static __thread unsigned char *page;
    if (!page)
        page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED ? NULL : page;
}

/* Writes, registers, calls, takes away, and writes the next one over it. */
SITE static void registered(struct fuzz *f, int depth)
{
    static __thread int is_under_way;
    static const uint32_t frames[] = {SMALL + 8, LARGE + 8};
    unsigned char *code = code_page();
    if (is_under_way || !code)
        return go(f, depth);
    is_under_way = 1;
    struct limits was = bar(f);
    for (unsigned i = 0, which = below(f, 2); i < 4; i++, which ^= 1) {
        unsigned char *table = code + 1024;
        size_t size = write_code(code, frames[which], TABLED);
        write_table(table, code, size, frames[which]);
        __register_frame(table);
        call_at((called *)(uintptr_t)code, f, depth < 3 ? depth : 3, SMALL + LARGE + 8 - frames[which]);
        __deregister_frame(table);
    }
    f->now = was;
    is_under_way = 0;
}

SITE static void below_untabled(struct fuzz *f, int depth, enum code kind, size_t marked)
{
    unsigned char *code = code_page();
    if (!code || f->marked)
        return;
    struct limits was = bar(f);
    write_code(code, SMALL, kind);
    f->marked = marked;
    ((called *)(uintptr_t)code)(f, depth < 4 ? depth : 4, below_code);
    f->marked = 0;
    f->now = was;
}

/* What is further out cannot be known, and no chain of frame pointers leads there. */
SITE static void untabled(struct fuzz *f, int depth)
{
    below_untabled(f, depth, UNTABLED, CUT_SIZE);
}

/* One does: so do compilers at run time, and the start-up objects of gcc. */
SITE static void framed(struct fuzz *f, int depth)
{
    below_untabled(f, depth, FRAMED, CROSSED_SIZE);
}
#endif

const struct choice code_entries[] = {
    {"plugins", plugins, 1, 0},
#ifdef __x86_64__
    {"registered", registered, 1, 0},
    {"untabled", untabled, 4, ASKED},
    {"framed", framed, 4, ASKED},
#endif
    {NULL, NULL, 0, 0},
};
