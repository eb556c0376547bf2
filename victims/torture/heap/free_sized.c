/* C23's free_sized and free_aligned_sized, of blocks of each kind. */
#include "../torture.h"
#include <dlfcn.h>

int main(void)
{
    void (*sized)(void *, size_t);
    void (*aligned)(void *, size_t, size_t);
    *(void **)&sized = dlsym(RTLD_DEFAULT, "free_sized");
    *(void **)&aligned = dlsym(RTLD_DEFAULT, "free_aligned_sized");
    if (!sized || !aligned)
        skip("this libc has no free_sized");
    sized(NULL, 0);
    aligned(NULL, 64, 0);
    for (size_t size = 0; size < 300000; size = size * 3 / 2 + 1) {
        errno = 7;
        sized(keep(malloc(size)), size);
        sized(keep(calloc(size, 1)), size);
        sized(keep(realloc(keep(malloc(10)), size + 1)), size + 1);
        aligned(keep(aligned_alloc(64, size * 64)), 64, size * 64);
        CHECK(errno == 7);
    }
    say("released\n");
    return 0;
}
