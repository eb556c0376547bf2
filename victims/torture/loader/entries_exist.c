/* A program asks by dlsym which entry points there are, and does other things where there are none: the answers must be libc's.
 *
 * @flags -ldl
 * @uncounted: the second recorder exports what libc has not
 */
#include "../torture.h"
#include <dlfcn.h>

int main(void)
{
    static const char *const names[] = {"malloc", "calloc", "realloc", "reallocarray", "free", "cfree", "posix_memalign",
        "aligned_alloc", "memalign", "valloc", "pvalloc", "malloc_usable_size", "mallopt", "free_sized", "free_aligned_sized", "mmap",
        "mmap64", "munmap", "mremap", "brk", "sbrk", "malloc_size", "mallocx", "je_malloc", "tc_malloc", "mi_malloc",
        "nallocx", "sdallocx", "MallocExtension_ReleaseFreeMemory", "__libc_malloc", "__malloc_hook", "malloc_good_size"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *found = dlsym(RTLD_DEFAULT, names[i]);
        say("%s: %s\n", names[i], found ? "yes" : "no");
        CHECK(found || dlerror());
    }
    return 0;
}
