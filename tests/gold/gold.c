/* libgold.so: the second recorder, naive on purpose. What it writes is drawn in gold.h.
 *
 * Every entry point calls glibc's own __libc_* function, so nothing has to be looked up and nothing is
 * asked of ld.so. It never prints, keeps no descriptor, and leaves errno as the real call left it.
 */
#define _GNU_SOURCE
#include "gold.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if !defined(__x86_64__)
#error "usable_size() reads glibc's chunk header as it is on x86_64"
#endif

#ifndef GOLD_STARTED /* stacks.c, which includes this file, does more with a file and with a record */
#define GOLD_STARTED(name) ((void)0)
#define GOLD_NOTED(record) ((void)0)
#endif

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t), *__libc_valloc(size_t), *__libc_pvalloc(size_t);
void __libc_free(void *);

/* ---- one file a process ---- */

static __thread int inside __attribute__((tls_model("initial-exec"))); /* > 0: within a real call */
#define REAL(call) ({ inside++; __typeof__(call) result_ = (call); inside--; result_; })

enum life { FRESH, STARTING, ON, OFF }; /* FRESH is 0: what a forked child finds in the wiped page */

static struct gold_file *file;
static uint64_t next_slot; /* private memory, not in the file: a fork inherits its value at the cut */
static uint32_t own_pid;
static char prefix[3000], own_name[3072];
static int prefix_known;

static enum life *life_page(void)
{
    static enum life *page;
    enum life *seen = __atomic_load_n(&page, __ATOMIC_ACQUIRE), *none = NULL;
    if (seen)
        return seen;
    seen = (void *)syscall(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    syscall(SYS_madvise, seen, 4096, MADV_WIPEONFORK);
    if (__atomic_compare_exchange_n(&page, &none, seen, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return seen;
    syscall(SYS_munmap, seen, 4096);
    return none;
}

/* From /proc, because the first malloc comes before libc knows its environment. */
static void read_variable(const char *key, char *value, size_t value_room)
{
    const size_t room = 4u << 20, key_length = strlen(key);
    int fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/environ", O_RDONLY | O_CLOEXEC, 0);
    char *text = (void *)syscall(SYS_mmap, 0, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t have = 0;
    for (long n; fd >= 0 && have < room - 1 && (n = syscall(SYS_read, fd, text + have, room - 1 - have)) > 0;)
        have += n;
    for (char *var = text; var < text + have; var += strlen(var) + 1)
        if (!strncmp(var, key, key_length) && strlen(var + key_length) < value_room)
            strcpy(value, var + key_length);
    syscall(SYS_munmap, text, room);
    if (fd >= 0)
        syscall(SYS_close, fd);
}

static char *put_number(char *at, unsigned long n)
{
    if (n > 9)
        at = put_number(at, n / 10);
    *at++ = '0' + n % 10;
    *at = 0;
    return at;
}

/* In a forked child everything private is still the parent's: remember it, drop its file, begin anew. */
static enum life start(void)
{
    char parent_name[sizeof own_name];
    uint64_t parent_cut = next_slot;
    uint32_t parent_pid = file ? own_pid : 0;

    if (!prefix_known)
        read_variable("GOLD_OUT=", prefix, sizeof prefix);
    prefix_known = 1;
    if (!prefix[0])
        return OFF;
    strcpy(parent_name, file ? own_name : "");
    if (file)
        syscall(SYS_munmap, file, GOLD_FILE_BYTES);
    file = NULL;
    next_slot = 0;
    own_pid = syscall(SYS_getpid);

    int fd = -1;
    for (int n = 1; fd < 0 && n < 100000; n++) {
        char *at = put_number(stpcpy(stpcpy(own_name, prefix), "."), own_pid);
        if (n > 1)
            put_number(stpcpy(at, "."), n);
        fd = syscall(SYS_openat, AT_FDCWD, own_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST)
            return OFF;
    }
    struct gold_file *made = MAP_FAILED;
    if (fd >= 0 && syscall(SYS_ftruncate, fd, GOLD_FILE_BYTES) == 0)
        made = (void *)syscall(SYS_mmap, 0, GOLD_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (fd >= 0)
        syscall(SYS_close, fd);
    if (made == MAP_FAILED)
        return OFF;

    struct gold_header *h = &made->header;
    h->pid = own_pid;
    h->parent_pid = parent_pid;
    h->parent_cut = parent_pid ? parent_cut : 0;
    strcpy(h->parent_file, parent_name);
    syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", h->exe, sizeof h->exe - 1);
    memcpy(h->magic, GOLD_MAGIC, sizeof h->magic);
    file = made;
    GOLD_STARTED(own_name);
    return ON;
}

static int recording(void)
{
    enum life *life = life_page(), now;
    while ((now = __atomic_load_n(life, __ATOMIC_ACQUIRE)) != ON && now != OFF && !inside) {
        unsigned long all = ~0ul, before; /* a signal's malloc must not find us STARTING */
        int saved_errno = errno;
        syscall(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &all, &before, sizeof all);
        enum life fresh = FRESH;
        if (__atomic_compare_exchange_n(life, &fresh, STARTING, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            __atomic_store_n(life, start(), __ATOMIC_RELEASE);
        else
            syscall(SYS_sched_yield);
        syscall(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &before, NULL, sizeof before);
        errno = saved_errno;
    }
    return now == ON;
}

/* ---- one record ---- */

static void note(int kind, int flags, const void *addr, size_t size, size_t usable, void *caller)
{
    if (!recording())
        return;
    struct gold_header *h = &file->header;
    if (inside) {
        __atomic_fetch_add(&h->nested, 1, __ATOMIC_RELAXED);
        return;
    }
    uint64_t slot = __atomic_fetch_add(&next_slot, 1, __ATOMIC_SEQ_CST);
    if (slot >= GOLD_SLOTS) {
        __atomic_fetch_add(&h->lost, 1, __ATOMIC_RELAXED);
        return;
    }
    uint64_t seen = __atomic_load_n(&h->reserved, __ATOMIC_RELAXED);
    while (seen <= slot && !__atomic_compare_exchange_n(&h->reserved, &seen, slot + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    struct gold_record *r = &file->record[slot];
    r->seq = slot;
    r->tid = syscall(SYS_gettid);
    r->kind = kind;
    r->flags = flags;
    r->addr = (uintptr_t)addr;
    r->size = size;
    r->usable = usable;
    r->caller = (uintptr_t)caller;
    GOLD_NOTED(r);
    __atomic_store_n(&r->valid, 1, __ATOMIC_RELEASE);
}

/* Calling malloc_usable_size would reach the recorder above us; its answer stands before the block. */
static size_t usable_size(const void *block)
{
    size_t word = ((const size_t *)block)[-1];
    return (word & ~(size_t)7) - (word & 2 /* mmapped */ ? 16 : 8);
}

static void *allocated(int kind, void *p, size_t size, void *caller)
{
    if (p)
        note(kind, GOLD_ALLOC, p, size, usable_size(p), caller);
    return p;
}

static void release(int kind, void *p, void *caller)
{
    if (p)
        note(kind, GOLD_RELEASE, p, 0, 0, caller);
    inside++;
    __libc_free(p);
    inside--;
}

static void *resize(int kind, void *p, size_t size, void *caller)
{
#ifndef SEEDED_FAULT
    if (p)
        note(kind, GOLD_RELEASE, p, 0, 0, caller);
#endif
    void *q = REAL(__libc_realloc(p, size));
#ifdef SEEDED_FAULT /* the common mistake, for selftest.py to prove that it would be seen */
    if (p)
        note(kind, GOLD_RELEASE, p, 0, 0, caller);
#endif
    if (p && !q && size != 0)
        note(kind, GOLD_UNDO, p, 0, 0, caller);
    return allocated(kind, q, size, caller);
}

/* ---- the heap ---- */

EXPORT void *malloc(size_t size) { return allocated(GOLD_MALLOC, REAL(__libc_malloc(size)), size, CALLER); }
EXPORT void *calloc(size_t n, size_t each) { return allocated(GOLD_CALLOC, REAL(__libc_calloc(n, each)), n * each, CALLER); }
EXPORT void *realloc(void *p, size_t size) { return resize(GOLD_REALLOC, p, size, CALLER); }
EXPORT void free(void *p) { release(GOLD_FREE, p, CALLER); }
EXPORT void cfree(void *p) { release(GOLD_CFREE, p, CALLER); }
EXPORT void *valloc(size_t size) { return allocated(GOLD_VALLOC, REAL(__libc_valloc(size)), size, CALLER); }
EXPORT void *pvalloc(size_t size) { return allocated(GOLD_PVALLOC, REAL(__libc_pvalloc(size)), size, CALLER); }

EXPORT void *memalign(size_t align, size_t size)
{
    return allocated(GOLD_MEMALIGN, REAL(__libc_memalign(align, size)), size, CALLER);
}

EXPORT void *aligned_alloc(size_t align, size_t size) /* the same function until glibc 2.38 */
{
    return allocated(GOLD_ALIGNED_ALLOC, REAL(__libc_memalign(align, size)), size, CALLER);
}

EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
    if (align < sizeof(void *) || (align & (align - 1)))
        return EINVAL;
    void *p = allocated(GOLD_POSIX_MEMALIGN, REAL(__libc_memalign(align, size)), size, CALLER);
    if (!p)
        return ENOMEM;
    *out = p;
    return 0;
}

EXPORT void *reallocarray(void *p, size_t n, size_t each)
{
    size_t size;
    if (__builtin_mul_overflow(n, each, &size)) {
        errno = ENOMEM;
        return NULL;
    }
    return resize(GOLD_REALLOCARRAY, p, size, CALLER);
}

/* ---- the second stream: mappings ---- */

static void *map(int kind, void *hint, size_t len, int prot, int flags, int fd, off_t offset, void *caller)
{
    void *p = (void *)syscall(SYS_mmap, hint, len, prot, flags, fd, offset);
    if (p != MAP_FAILED)
        note(kind, GOLD_MAPPING | GOLD_ALLOC | (flags & MAP_FIXED ? GOLD_FIXED : 0), p, len, 0, caller);
    return p;
}

EXPORT void *mmap(void *hint, size_t len, int prot, int flags, int fd, off_t offset)
{
    return map(GOLD_MMAP, hint, len, prot, flags, fd, offset, CALLER);
}

EXPORT void *mmap64(void *hint, size_t len, int prot, int flags, int fd, off_t offset)
{
    return map(GOLD_MMAP64, hint, len, prot, flags, fd, offset, CALLER);
}

EXPORT int munmap(void *p, size_t len)
{
    note(GOLD_MUNMAP, GOLD_MAPPING | GOLD_RELEASE, p, len, 0, CALLER);
    int failed = syscall(SYS_munmap, p, len);
    if (failed)
        note(GOLD_MUNMAP, GOLD_MAPPING | GOLD_UNDO, p, len, 0, CALLER);
    return failed;
}

EXPORT void *mremap(void *p, size_t old_len, size_t len, int flags, ...)
{
    void *hint = NULL;
    if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) {
        va_list more;
        va_start(more, flags);
        hint = va_arg(more, void *);
        va_end(more);
    }
    int moves = old_len != 0 && !(flags & MREMAP_DONTUNMAP); /* otherwise the old mapping stays */
    if (moves)
        note(GOLD_MREMAP, GOLD_MAPPING | GOLD_RELEASE, p, old_len, 0, CALLER);
    void *q = (void *)syscall(SYS_mremap, p, old_len, len, flags, hint);
    if (q != MAP_FAILED)
        note(GOLD_MREMAP, GOLD_MAPPING | GOLD_ALLOC | (flags & MREMAP_FIXED ? GOLD_FIXED : 0), q, len, 0, CALLER);
    else if (moves)
        note(GOLD_MREMAP, GOLD_MAPPING | GOLD_UNDO, p, old_len, 0, CALLER);
    return q;
}

/* The recorder above asks whoever malloc is from, which is us. */
EXPORT size_t malloc_usable_size(void *block)
{
    return block ? usable_size(block) : 0;
}

/* ---- self-test: is usable_size() what glibc itself would say? ---- */

__attribute__((constructor)) static void check_usable_size(void)
{
    size_t (*ask)(void *) = (size_t(*)(void *))dlsym(RTLD_NEXT, "malloc_usable_size");
    void *blocks[] = {__libc_malloc(0), __libc_malloc(100), __libc_malloc(1 << 20), __libc_memalign(1 << 16, 1 << 20)};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        if (recording() && (!ask || ask(blocks[i]) != usable_size(blocks[i])))
            file->header.bad_usable = 1;
        __libc_free(blocks[i]);
    }
}
