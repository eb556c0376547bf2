/* A plugin with an allocator of its own, which it binds to itself; what libc allocates for it comes from elsewhere.
 *
 * @plugin
 * @flags -Wl,-Bsymbolic -fno-builtin
 */
#include "../torture.h"

static char array[1 << 20] __attribute__((aligned(16)));
static size_t used;

void *malloc(size_t size)
{
    size_t whole = (size + 15) & ~(size_t)15;
    size_t at = __atomic_fetch_add(&used, whole, __ATOMIC_RELAXED);
    return size <= sizeof array && at + whole <= sizeof array ? array + at : NULL;
}

void free(void *p)
{
    CHECK(!p || ((char *)p >= array && (char *)p < array + sizeof array));
}

int plug_own(int rounds)
{
    int inside = 0;
    for (int i = 0; i < rounds; i++) {
        char *p = (char *)keep(malloc(100));
        CHECK(p);
        inside += p >= array && p < array + sizeof array;
        free(p);
    }
    return inside;
}
