/* Rust's standard library for musl wants an unwinder, LLVM's as libunwind.a.
 * gcc's does as well, but asks the C library where the tables of some code are
 * by a function that only glibc has. This is it, for static programs. */
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <stdint.h>

/* It refers to these weakly, which fetches nothing from an archive, and takes
 * all for there where one is. */
static void (*const wanted[])(void) __attribute__((used)) = {
    (void (*)(void))pthread_once,        (void (*)(void))pthread_getspecific,  (void (*)(void))pthread_setspecific,
    (void (*)(void))pthread_mutex_lock,  (void (*)(void))pthread_mutex_unlock, (void (*)(void))pthread_key_create,
};

/* As in glibc's dlfcn.h on x86_64. */
struct dl_find_object {
    unsigned long long flags;
    void *map_start;
    void *map_end;
    struct link_map *link_map;
    void *eh_frame;
    unsigned long long reserved[7];
};

int _dl_find_object(void *pc, struct dl_find_object *found);

struct search {
    uintptr_t pc;
    struct dl_find_object *found;
};

static int look(struct dl_phdr_info *info, size_t size, void *data) {
    const struct search *search = data;
    const ElfW(Phdr) *code = 0, *tables = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && search->pc - start < segment->p_memsz)
            code = segment;
        if (segment->p_type == PT_GNU_EH_FRAME)
            tables = segment;
    }
    if (!code || !tables)
        return 0;
    char *base = (char *)info->dlpi_addr;
    *search->found = (struct dl_find_object){
        .map_start = base + code->p_vaddr,
        .map_end = base + code->p_vaddr + code->p_memsz,
        .eh_frame = base + tables->p_vaddr,
    };
    return 1;
}

int _dl_find_object(void *pc, struct dl_find_object *found) {
    struct search search = { (uintptr_t)pc, found };
    return dl_iterate_phdr(look, &search) ? 0 : -1;
}
