/* libgold_stacks.so: the second recorder, which also asks libunwind for the call stack of some allocations.
 *
 * GOLD_STACKS_EVERY=N takes the stacks of one in N events (default 16), as is_chosen() says, if they are heap
 * allocations. They go into the file NAME.stacks beside the image's NAME, in the machine's own byte order:
 *
 *   offset  header, padded to 4096 bytes           offset  record, at 4096 and then one after the other
 *   0       magic "GOLDSTK1"                       0       u64  seq    of the allocation in NAME
 *   8       u64  used   bytes of records           8       u32  count  of frames
 *   16      u64  lost   stacks that did not fit    12      i16  end    what the last unw_step said: 0 the end,
 *   24      u64  every                                                 < 0 an error, > 0 more frames than fit
 *                                                  14      u16  valid  1, stored last
 *                                                  16      u64  frame[count], the innermost first
 *
 * A frame is the address as libunwind has it: where execution goes on. Frames that a signal interrupted, of which libunwind
 * says that they are "signal frames", have bit 63 set: the address is the instruction itself, no return address. Frames of the two recorders at the inner end are left out, so that
 * the first one is of the function that called malloc.
 *
 * libunwind is told to cache nothing: libraries come and go, and another may lie where one was. What it allocates itself
 * is not counted, for it happens within the allocator's own call as seen from above, and `inside` is held here.
 */
#define _GNU_SOURCE
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <stdint.h>

struct gold_record;
static void stacks_start(const char *name);
static void stacks_note(const struct gold_record *r);
#define GOLD_STARTED(name) stacks_start(name)
#define GOLD_NOTED(record) stacks_note(record)
#include "gold.c"

enum { FRAMES = 4096 };
#define STACKS_BYTES ((size_t)4 << 30) /* sparse */
#define EXACT ((uint64_t)1 << 63)

struct stack_record {
    uint64_t seq;
    uint32_t count;
    int16_t end;
    uint16_t valid;
    uint64_t frame[];
};

static struct stacks_file {
    char magic[8];
    uint64_t used, lost, every, zero[508];
    char records[];
} *stacks;

_Static_assert(sizeof(struct stacks_file) == 4096, "the header is a page");

/* One a thread, for its stack may be small. */
struct room {
    unw_context_t context;
    unw_cursor_t cursor;
    uint64_t frame[FRAMES];
};
static __thread struct room *room __attribute__((tls_model("initial-exec")));
static __thread int taking __attribute__((tls_model("initial-exec")));

static int libunwind_is_told;

static struct range {
    uint64_t low, high;
} own[2];
static const char *const own_names[] = {"/libmemlog.so", "/libgold_stacks.so"};

static uint64_t hex(const char **at)
{
    uint64_t n = 0;
    for (;; ++*at) {
        unsigned digit = **at >= 'a' ? **at - 'a' + 10u : **at - '0' + 0u;
        if (digit > 15)
            return n;
        n = n * 16 + digit;
    }
}

static void find_recorders(void)
{
    const size_t have = 4u << 20;
    char *text = (void *)syscall(SYS_mmap, 0, have, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    size_t used = 0;
    for (long n; fd >= 0 && used < have - 1 && (n = syscall(SYS_read, fd, text + used, have - 1 - used)) > 0;)
        used += n;
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        for (int i = 0; i < 2; i++) {
            size_t length = strlen(own_names[i]);
            if (end - line < (long)length || strcmp(end - length, own_names[i]))
                continue;
            const char *at = line;
            uint64_t low = hex(&at);
            at++;
            own[i].low = own[i].low ? own[i].low : low;
            own[i].high = hex(&at);
        }
    }
    syscall(SYS_close, fd);
    syscall(SYS_munmap, text, have);
}

static int is_recorder(uint64_t at)
{
    for (int i = 0; i < 2; i++)
        if (at >= own[i].low && at < own[i].high)
            return 1;
    return 0;
}

/* Every one of EVERY, but not in step with what the program does in turn. */
static int is_chosen(uint64_t seq, uint64_t every)
{
    return ((seq * 0x9E3779B97F4A7C15) >> 32) % every == 0;
}

/* libunwind asks the kernel whether memory can be read, through a pipe that it keeps. A program that closes all its files,
 * as launchers do, hangs it; GOLD_STACKS_EXE=NAME takes stacks in executables of that name only. */
static int is_wanted(const char *exe)
{
    char only[256] = "";
    read_variable("GOLD_STACKS_EXE=", only, sizeof only);
    const char *slash = strrchr(exe, '/');
    return !only[0] || !strcmp(slash ? slash + 1 : exe, only);
}

/* Called once an image, before its first record, by one thread. Not in a forked child: libunwind takes the loader's lock,
 * which another thread of the parent may have held at the fork, and nobody in the child will give back. */
static void stacks_start(const char *name)
{
    char path[3200], every[24] = "16";
    if (stacks)
        syscall(SYS_munmap, stacks, STACKS_BYTES);
    stacks = NULL;
    taking = 0;
    if (file->header.parent_pid || !is_wanted(file->header.exe))
        return;
    strcpy(stpcpy(path, name), ".stacks");
    int fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    syscall(SYS_ftruncate, fd, STACKS_BYTES);
    void *made = (void *)syscall(SYS_mmap, 0, STACKS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    syscall(SYS_close, fd);
    if (made == MAP_FAILED)
        return;
    read_variable("GOLD_STACKS_EVERY=", every, sizeof every);
    find_recorders();
    struct stacks_file *f = made;
    for (const char *c = every; *c >= '0' && *c <= '9'; c++)
        f->every = f->every * 10 + (uint64_t)(*c - '0');
    f->every += !f->every;
    memcpy(f->magic, "GOLDSTK1", 8);
    stacks = f;
}

static uint32_t walk(int *end)
{
    uint32_t count = 0;
    int step = 1;
    unw_getcontext(&room->context);
    if (unw_init_local(&room->cursor, &room->context) < 0)
        return 0;
    while (count < FRAMES) {
        unw_word_t at = 0;
        unw_get_reg(&room->cursor, UNW_REG_IP, &at);
        if (at == 0) { /* an outermost function whose rules do not say that it is */
            step = 0;
            break;
        }
        if (count || !is_recorder(at))
            room->frame[count++] = at | (unw_is_signal_frame(&room->cursor) > 0 ? EXACT : 0);
        if ((step = unw_step(&room->cursor)) <= 0)
            break;
    }
    *end = step;
    return count;
}

static void stacks_note(const struct gold_record *r)
{
    struct stacks_file *f = stacks;
    if (!f || taking || (r->flags & (GOLD_ALLOC | GOLD_MAPPING)) != GOLD_ALLOC || !is_chosen(r->seq, f->every))
        return;
    int saved_errno = errno, end = 0;
    taking = 1;
    inside++;
    if (!libunwind_is_told) /* here and not at the start, for it maps memory, and above us a call must be under way */
        unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_NONE);
    libunwind_is_told = 1;
    if (!room)
        room = (void *)syscall(SYS_mmap, 0, sizeof *room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint32_t count = walk(&end);
    size_t bytes = sizeof(struct stack_record) + count * sizeof(uint64_t);
    uint64_t at = __atomic_fetch_add(&f->used, bytes, __ATOMIC_RELAXED);
    if (at + bytes <= STACKS_BYTES - sizeof *f) {
        struct stack_record *s = (void *)(f->records + at);
        s->seq = r->seq;
        s->count = count;
        s->end = end;
        memcpy(s->frame, room->frame, count * sizeof(uint64_t));
        __atomic_store_n(&s->valid, 1, __ATOMIC_RELEASE);
    } else {
        __atomic_fetch_add(&f->lost, 1, __ATOMIC_RELAXED);
    }
    inside--;
    taking = 0;
    errno = saved_errno;
}
