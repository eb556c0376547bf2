/* memlog.h: what a program may say to memlog, a profiler of its memory.
 *
 * Copy this file into any project. It needs no library, and costs a test of one word
 * where the program runs without memlog. C89 and newer, C++98 and newer; GCC, clang
 * and what understands their attributes; elsewhere, and where MEMLOG_NOTHING is
 * defined, all of it compiles to nothing.
 *
 *   memlog_mark("loaded")          a name for this moment: memlog report --at 'mark loaded'
 *   memlog_snapshot()              the same, called snapshot 1, 2, ...
 *   memlog_sync()                  all that was recorded is in the log's file now
 *   memlog_stop(), memlog_start()  record nothing from now on, and record again: what is
 *                                  allocated in between is not known
 *   memlog_name_thread("loader")   a name for the calling thread, of 32 bytes at most
 *   memlog_is_recording()          1 or 0
 *   memlog_scope_begin("load")     what the calling thread allocates from here on, up to
 *   memlog_scope_end()             the end, has this tag: memlog table --by scope. Scopes
 *                                  may stand within each other: load/parse
 *   memlog::scope one("load");     the same in C++, up to the end of the block
 *   memlog_print_trace(ptr)        tells on standard error how to ask memlog who allocated
 *                                  this address; also from gdb: call memlog_print_trace(p)
 *
 * An allocator of the program's own tells of its blocks (recorded on x86_64):
 *
 *   memlog_custom_alloc(ptr, size)         this was handed out
 *   memlog_custom_free(ptr)                this is about to be taken back
 *   memlog_custom_realloc(old, now, size)  this became that
 *   memlog_pool(ptr)                       this block of malloc is what others are cut
 *                                          from: it is none in use
 *
 * Any thread may call them at any time, in a signal handler too. They do not change
 * errno. The name of a mark has 128 bytes at most, and so have those of all scopes that
 * a thread is in, of which 16 are told.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef MEMLOG_H
#define MEMLOG_H

#if defined(MEMLOG_NOTHING) || !defined(__GNUC__) || !defined(__linux__)

#define memlog_mark(name) ((void)(name))
#define memlog_snapshot() ((void)0)
#define memlog_sync() ((void)0)
#define memlog_start() ((void)0)
#define memlog_stop() ((void)0)
#define memlog_name_thread(name) ((void)(name))
#define memlog_is_recording() 0
#define memlog_scope_begin(name) ((void)(name))
#define memlog_scope_end() ((void)0)
#define memlog_custom_alloc(ptr, size) ((void)(ptr), (void)(size))
#define memlog_custom_free(ptr) ((void)(ptr))
#define memlog_custom_realloc(old, now, size) ((void)(old), (void)(now), (void)(size))
#define memlog_pool(ptr) ((void)(ptr))
#define memlog_print_trace(ptr) ((void)(ptr))

#else

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The functions themselves. They are null in a program that is linked statically without
 * memlog, and in one that runs without it; and in code that is not position independent,
 * where linkers take them for null for good. So the library is looked for then, once. */
extern void memlog_mark(const char *) __attribute__((weak));
extern void memlog_snapshot(void) __attribute__((weak));
extern void memlog_sync(void) __attribute__((weak));
extern void memlog_start(void) __attribute__((weak));
extern void memlog_stop(void) __attribute__((weak));
extern void memlog_name_thread(const char *) __attribute__((weak));
extern int memlog_is_recording(void) __attribute__((weak));
extern void memlog_scope_begin(const char *) __attribute__((weak));
extern void memlog_scope_end(void) __attribute__((weak));
extern void memlog_custom_alloc(const void *, size_t) __attribute__((weak));
extern void memlog_custom_free(const void *) __attribute__((weak));
extern void memlog_custom_realloc(const void *, const void *, size_t) __attribute__((weak));
extern void memlog_pool(const void *) __attribute__((weak));
extern void memlog_print_trace(const void *) __attribute__((weak));

/* How the C library hands out loaded modules: the beginning of its dl_phdr_info. Under a
 * name of our own, for whoever has included <link.h> with another set of features. */
struct memlog_module_ {
    ElfW(Addr) base;
    const char *path;
    const ElfW(Phdr) *segments;
    ElfW(Half) count;
};
extern int memlog_each_module_(int (*)(struct memlog_module_ *, size_t, void *), void *)
    __asm__("dl_iterate_phdr");

#ifdef __cplusplus
}
#endif

union memlog_function_ {
    size_t word; /* 0 before the first call, 1 where there is no such function */
    void (*of_nothing)(void);
    void (*of_text)(const char *);
    int (*asked)(void);
    void (*of_block)(const void *);
    void (*of_sized)(const void *, size_t);
    void (*of_moved)(const void *, const void *, size_t);
};

struct memlog_wanted_ {
    const char *name;
    size_t address;
};

/* Some loaders put addresses into the dynamic section, and some leave offsets there. */
#define MEMLOG_AT_(module, word) ((word) < (module)->base ? (module)->base + (word) : (word))

__attribute__((unused, cold)) static int
memlog_look_into_(struct memlog_module_ *module, size_t size, void *data) {
    struct memlog_wanted_ *wanted = (struct memlog_wanted_ *)data;
    const ElfW(Dyn) *entry = 0;
    const ElfW(Sym) *symbols = 0;
    const char *names = 0;
#ifdef __s390x__
    const size_t *hash = 0;
#else
    const unsigned *hash = 0;
#endif
    size_t soname = 0, index;
    (void)size;
    for (index = 0; index < module->count; index++)
        if (module->segments[index].p_type == PT_DYNAMIC)
            entry = (const ElfW(Dyn) *)(module->base + module->segments[index].p_vaddr);
    for (; entry && entry->d_tag != DT_NULL; entry++) {
        size_t at = MEMLOG_AT_(module, entry->d_un.d_ptr);
        if (entry->d_tag == DT_SYMTAB)
            symbols = (const ElfW(Sym) *)at;
        else if (entry->d_tag == DT_STRTAB)
            names = (const char *)at;
        else if (entry->d_tag == DT_HASH)
            memcpy(&hash, &at, sizeof at);
        else if (entry->d_tag == DT_SONAME)
            soname = entry->d_un.d_val;
    }
    if (!names || !symbols || !hash || !soname || strcmp(names + soname, "libmemlog.so") != 0)
        return 0;
    for (index = 1; index < hash[1]; index++)
        if (symbols[index].st_value && strcmp(names + symbols[index].st_name, wanted->name) == 0)
            wanted->address = module->base + symbols[index].st_value;
    return 1;
}

__attribute__((unused, noinline, cold)) static size_t
memlog_find_(size_t address, const char *name, size_t *kept) {
    struct memlog_wanted_ wanted;
    wanted.name = name;
    wanted.address = address;
    if (!address)
        memlog_each_module_(memlog_look_into_, &wanted);
    address = wanted.address ? wanted.address : 1;
    __atomic_store_n(kept, address, __ATOMIC_RELAXED);
    return address;
}

/* Declares `function`, which is 1 where there is none. */
#define MEMLOG_FUNCTION_(name, kind)                                       \
    static size_t kept;                                                    \
    union memlog_function_ function;                                       \
    function.word = __atomic_load_n(&kept, __ATOMIC_RELAXED);              \
    if (!function.word) {                                                  \
        function.kind = name;                                              \
        function.word = memlog_find_(function.word, #name, &kept);         \
    }

__attribute__((unused)) static void memlog_call_mark_(const char *name) {
    MEMLOG_FUNCTION_(memlog_mark, of_text)
    if (function.word != 1)
        function.of_text(name);
}
__attribute__((unused)) static void memlog_call_snapshot_(void) {
    MEMLOG_FUNCTION_(memlog_snapshot, of_nothing)
    if (function.word != 1)
        function.of_nothing();
}
__attribute__((unused)) static void memlog_call_sync_(void) {
    MEMLOG_FUNCTION_(memlog_sync, of_nothing)
    if (function.word != 1)
        function.of_nothing();
}
__attribute__((unused)) static void memlog_call_start_(void) {
    MEMLOG_FUNCTION_(memlog_start, of_nothing)
    if (function.word != 1)
        function.of_nothing();
}
__attribute__((unused)) static void memlog_call_stop_(void) {
    MEMLOG_FUNCTION_(memlog_stop, of_nothing)
    if (function.word != 1)
        function.of_nothing();
}
__attribute__((unused)) static void memlog_call_name_thread_(const char *name) {
    MEMLOG_FUNCTION_(memlog_name_thread, of_text)
    if (function.word != 1)
        function.of_text(name);
}
__attribute__((unused)) static int memlog_call_is_recording_(void) {
    MEMLOG_FUNCTION_(memlog_is_recording, asked)
    return function.word != 1 && function.asked();
}
__attribute__((unused)) static void memlog_call_scope_begin_(const char *name) {
    MEMLOG_FUNCTION_(memlog_scope_begin, of_text)
    if (function.word != 1)
        function.of_text(name);
}
__attribute__((unused)) static void memlog_call_scope_end_(void) {
    MEMLOG_FUNCTION_(memlog_scope_end, of_nothing)
    if (function.word != 1)
        function.of_nothing();
}

/* These are called by whoever uses them, for it is his stack that is recorded. */
__attribute__((unused)) static void memlog_no_block_(const void *block) { (void)block; }
__attribute__((unused)) static void memlog_no_sized_(const void *block, size_t size) {
    (void)block, (void)size;
}
__attribute__((unused)) static void
memlog_no_moved_(const void *old, const void *now, size_t size) {
    (void)old, (void)now, (void)size;
}
__attribute__((unused)) static union memlog_function_ memlog_for_custom_alloc_(void) {
    MEMLOG_FUNCTION_(memlog_custom_alloc, of_sized)
    if (function.word == 1)
        function.of_sized = memlog_no_sized_;
    return function;
}
__attribute__((unused)) static union memlog_function_ memlog_for_custom_free_(void) {
    MEMLOG_FUNCTION_(memlog_custom_free, of_block)
    if (function.word == 1)
        function.of_block = memlog_no_block_;
    return function;
}
__attribute__((unused)) static union memlog_function_ memlog_for_custom_realloc_(void) {
    MEMLOG_FUNCTION_(memlog_custom_realloc, of_moved)
    if (function.word == 1)
        function.of_moved = memlog_no_moved_;
    return function;
}
__attribute__((unused)) static union memlog_function_ memlog_for_pool_(void) {
    MEMLOG_FUNCTION_(memlog_pool, of_block)
    if (function.word == 1)
        function.of_block = memlog_no_block_;
    return function;
}
__attribute__((unused)) static void memlog_call_print_trace_(const void *address) {
    MEMLOG_FUNCTION_(memlog_print_trace, of_block)
    if (function.word != 1)
        function.of_block(address);
}

#undef MEMLOG_AT_
#undef MEMLOG_FUNCTION_

#define memlog_mark(name) memlog_call_mark_(name)
#define memlog_snapshot() memlog_call_snapshot_()
#define memlog_sync() memlog_call_sync_()
#define memlog_start() memlog_call_start_()
#define memlog_stop() memlog_call_stop_()
#define memlog_name_thread(name) memlog_call_name_thread_(name)
#define memlog_is_recording() memlog_call_is_recording_()
#define memlog_scope_begin(name) memlog_call_scope_begin_(name)
#define memlog_scope_end() memlog_call_scope_end_()
#define memlog_custom_alloc(ptr, size) memlog_for_custom_alloc_().of_sized((ptr), (size))
#define memlog_custom_free(ptr) memlog_for_custom_free_().of_block((ptr))
#define memlog_custom_realloc(old, now, size) \
    memlog_for_custom_realloc_().of_moved((old), (now), (size))
#define memlog_pool(ptr) memlog_for_pool_().of_block((ptr))
#define memlog_print_trace(ptr) memlog_call_print_trace_(ptr)

#endif

#ifdef __cplusplus
namespace memlog {
namespace { /* Each file has its own, as it has its own calls. */
/* What is allocated while it is there has this tag; an exception ends it too. */
class scope {
  public:
    explicit scope(const char *name) { memlog_scope_begin(name); }
    ~scope() { memlog_scope_end(); }

  private:
    scope(const scope &);
    scope &operator=(const scope &);
};
}
}
#endif

#endif
