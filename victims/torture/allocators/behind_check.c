/* GLIBC_TUNABLES asks for the checking allocator, and LD_PRELOAD has its library behind the recorder: every block has a
 * magic byte behind it, and malloc_usable_size is exactly what was asked for.
 *
 * @flags -ldl
 * @uncounted: the second recorder stands before that library and ends in libc
 */
#include "../again.h"
#include <malloc.h>

int main(int argc, char **argv)
{
    (void)argc;
    if (!getenv("TORTURE_AGAIN"))
        CHECK(setenv("GLIBC_TUNABLES", "glibc.malloc.check=3", 1) == 0);
    again_behind(argv, "libc_malloc_debug.so.0");
    for (size_t size = 1; size < 300; size++) {
        void *block = keep(malloc(size));
        CHECK(malloc_usable_size(block) == size);
        free(block);
    }
    churn(1000);
    say("checked\n");
    return 0;
}
