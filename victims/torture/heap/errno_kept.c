/* A successful call leaves errno alone, a failed one says ENOMEM, and free never changes it.
 *
 * @uncounted: the absurd sizes are the compiler's to judge as well
 */
#include "../torture.h"
#include <malloc.h>

int main(void)
{
    volatile size_t most = PTRDIFF_MAX;
    errno = 4711;
    void *p = keep(malloc(100));
    CHECK(p && errno == 4711);
    CHECK(!keep(malloc(most)) && errno == ENOMEM);
    errno = 4711;
    CHECK(!keep(realloc(p, most)) && errno == ENOMEM);
    errno = 4711;
    free(p);
    CHECK(errno == 4711);
    CHECK(!keep(calloc(most, 3)) && errno == ENOMEM);
    errno = 4711;
    void *q = NULL;
    CHECK(posix_memalign(&q, 3, 100) == EINVAL && errno == 4711);
    CHECK(posix_memalign(&q, 64, most) == ENOMEM);
    CHECK(!keep(reallocarray(NULL, most, 4)) && errno == ENOMEM);
    CHECK(!keep(aligned_alloc(64, most)) && errno == ENOMEM);
    CHECK(!keep(memalign(64, most)) && errno == ENOMEM);
    say("errno is the allocator's\n");
    return 0;
}
