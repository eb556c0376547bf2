/* The file of the second recorder: one header page, then records of 48 bytes.
 *
 * libgold.so is the witness that memlog is compared with. It is preloaded *below* memlog in the same
 * process (LD_PRELOAD="libmemlog.so libgold.so"), shares no line of code with it, and is meant to be
 * right by looking at it, not to be fast.
 *
 * Names. GOLD_OUT is a path prefix (absolute, if the program changes its folder). The first image of a
 * process writes GOLD_OUT.PID; if that exists (the process has called exec), GOLD_OUT.PID.2, .3, ...
 * A forked child writes a file of its own, made at its first event; a child without events makes none.
 * A vfork child shares its parent's memory and so writes into the parent's file, under its own tid.
 *
 * Everything is in the machine's own byte order.
 *
 *   offset  header, padded to 4096 bytes            offset  record, 48 bytes; record i at 4096 + 48 * i
 *   0       magic "GOLD0001"                        0   u64  seq      == i
 *   8       u64  reserved   slots handed out        8   u32  tid      of the caller
 *   16      u64  lost       events beyond the file  12  u16  kind     entry point, enum gold_kind
 *   24      u64  nested     calls not counted       14  u8   flags    GOLD_ALLOC, ... below
 *   32      u32  pid                                15  u8   valid    1, stored last; 0: never finished
 *   36      u32  parent_pid 0: not a fork           16  u64  addr
 *   40      u64  parent_cut                         24  u64  size     as requested; 0 in heap releases
 *   48      u32  bad_usable                         32  u64  usable   heap allocations only
 *   64      char exe[448]        NUL-terminated     40  u64  caller   return address of the entry point
 *   512     char parent_file[3584]
 *
 * Order. seq is taken AFTER the real call for an allocation and BEFORE it for a release, so on any one
 * address allocations and releases must alternate. Only slots below `reserved` were used; a process that
 * was killed may leave at most one slot a thread with valid == 0.
 *
 * realloc(p, n) is a RELEASE of p before the call and an ALLOC after it; if it failed, an UNDO of p says
 * that the release did not happen. realloc(NULL, n) is only an ALLOC, realloc(p, 0) that frees only a
 * RELEASE. NULL results and free(NULL) are no events; a block of size 0 is one.
 *
 * Mappings (GOLD_MAPPING) are a second stream: what the program asked of mmap, munmap and mremap; size is
 * the length in ALLOC and RELEASE. Mappings made inside libc or ld.so are not seen.
 *
 * A forked child starts an empty stream: it may release blocks of its parent's, namely those live after the
 * records with seq < parent_cut of parent_file. (What other threads were doing at that moment is undecided.)
 */
#ifndef GOLD_H
#define GOLD_H

#include <stdint.h>

#define GOLD_MAGIC "GOLD0001"
#define GOLD_HEADER_BYTES 4096u
#define GOLD_FILE_BYTES ((size_t)1 << 30) /* sparse */
#define GOLD_SLOTS ((GOLD_FILE_BYTES - GOLD_HEADER_BYTES) / sizeof(struct gold_record))

enum gold_kind {
    GOLD_MALLOC = 1, GOLD_CALLOC = 2, GOLD_REALLOC = 3, GOLD_REALLOCARRAY = 4,
    GOLD_FREE = 5, GOLD_CFREE = 6, GOLD_POSIX_MEMALIGN = 7, GOLD_ALIGNED_ALLOC = 8,
    GOLD_MEMALIGN = 9, GOLD_VALLOC = 10, GOLD_PVALLOC = 11,
    GOLD_FREE_SIZED = 12, GOLD_FREE_ALIGNED_SIZED = 13, /* reserved: not in this libc */
    GOLD_MMAP = 32, GOLD_MMAP64 = 33, GOLD_MUNMAP = 34, GOLD_MREMAP = 35,
};

enum gold_flags { /* exactly one of the first three */
    GOLD_ALLOC = 1, GOLD_RELEASE = 2, GOLD_UNDO = 4,
    GOLD_MAPPING = 16, GOLD_FIXED = 32, /* MAP_FIXED: may replace other mappings */
};

struct gold_record {
    uint64_t seq;
    uint32_t tid;
    uint16_t kind;
    uint8_t flags;
    uint8_t valid;
    uint64_t addr, size, usable, caller;
};

struct gold_header {
    char magic[8];
    uint64_t reserved, lost, nested;
    uint32_t pid, parent_pid;
    uint64_t parent_cut;
    uint32_t bad_usable; /* the self-test of `usable` failed: do not compare it */
    uint32_t zero[3];
    char exe[448];
    char parent_file[3584];
};

struct gold_file {
    struct gold_header header;
    struct gold_record record[];
};

_Static_assert(sizeof(struct gold_record) == 48, "records are 48 bytes");
_Static_assert(sizeof(struct gold_header) == GOLD_HEADER_BYTES, "the header is a page");

#endif
