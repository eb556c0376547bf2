/* backtrace() for musl, which has none: by the compiler's own library.
 *
 * Debian's compiler was made for glibc, and its library asks _dl_find_object, as glibc 2.35 has it, where the tables of an
 * address are. Hidden, so that nobody else meets it. */
#ifndef SEEN_UNWIND_H
#define SEEN_UNWIND_H

#ifndef _GNU_SOURCE
#error "link.h wants _GNU_SOURCE"
#endif
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <unwind.h>

/* That library names these weakly, so that of a static libc only some would come along, and it would call the others. */
__attribute__((used)) static void *const seen_needed[] = {
    (void *)pthread_once, (void *)pthread_key_create, (void *)pthread_getspecific, (void *)pthread_setspecific,
    (void *)pthread_mutex_lock, (void *)pthread_mutex_unlock,
};

struct seen_object {
    uint64_t flags;
    void *start, *end;
    struct link_map *map;
    void *tables;
    uint64_t reserved[7];
};
struct seen_asked { uintptr_t address; struct seen_object *found; };

static int seen_module(struct dl_phdr_info *module, size_t size, void *of)
{
    struct seen_asked *asked = of;
    uintptr_t tables = 0, low = 0, high = 0;
    (void)size;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        uintptr_t at = module->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_GNU_EH_FRAME)
            tables = at;
        if (part->p_type == PT_LOAD && asked->address - at < part->p_memsz)
            low = at, high = at + part->p_memsz;
    }
    if (!high || !tables)
        return 0;
    *asked->found = (struct seen_object){ 0, (void *)low, (void *)high, 0, (void *)tables, { 0 } };
    return 1;
}

__attribute__((visibility("hidden"))) int _dl_find_object(void *address, void *found);
int _dl_find_object(void *address, void *found)
{
    struct seen_asked asked = { (uintptr_t)address, found };
    return dl_iterate_phdr(seen_module, &asked) ? 0 : -1;
}

struct seen_walk { void **at; int count, room; };

static _Unwind_Reason_Code seen_frame(struct _Unwind_Context *context, void *of)
{
    struct seen_walk *walk = of;
    void *pc = (void *)_Unwind_GetIP(context);
    if (walk->count < walk->room && pc)
        walk->at[walk->count++] = pc;
    return _URC_NO_REASON;
}

/* The first frame told is this function's caller. */
__attribute__((noinline)) static int backtrace(void **at, int room)
{
    struct seen_walk walk = { at, 0, room };
    _Unwind_Backtrace(seen_frame, &walk);
    for (int i = 1; i < walk.count; i++)
        at[i - 1] = at[i];
    return walk.count - 1;
}

#endif
