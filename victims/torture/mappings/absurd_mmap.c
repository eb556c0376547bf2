/* mmap, munmap and mremap with arguments that cannot be: each with its own errno, and none of them a mapping. */
#include "../torture.h"
#include <sys/mman.h>

static int why(void *p)
{
    CHECK(p == MAP_FAILED);
    return errno;
}

int main(void)
{
    enum { RW = PROT_READ | PROT_WRITE, OWN = MAP_PRIVATE | MAP_ANONYMOUS };
    volatile size_t none = 0, most = SIZE_MAX, large = (size_t)1 << 60;
    char *p = mmap(NULL, 16384, RW, OWN, -1, 0), *q = mmap(NULL, 16384, RW, OWN, -1, 0);
    CHECK(p != MAP_FAILED && q != MAP_FAILED);
    CHECK(why(mmap(NULL, none, RW, OWN, -1, 0)) == EINVAL);
    CHECK(why(mmap(NULL, most, RW, OWN, -1, 0)) == ENOMEM);
    CHECK(why(mmap(NULL, large, RW, OWN, -1, 0)) == ENOMEM);
    CHECK(why(mmap(NULL, 4096, RW, MAP_ANONYMOUS, -1, 0)) == EINVAL);
    CHECK(why(mmap(NULL, 4096, RW, MAP_PRIVATE, -1, 0)) == EBADF);
    CHECK(why(mmap(NULL, 4096, RW, MAP_PRIVATE, 1000, 0)) == EBADF);
    CHECK(why(mmap(NULL, 4096, RW, OWN, -1, 1)) == EINVAL);
    CHECK(why(mmap(p + 1, 4096, RW, OWN | MAP_FIXED, -1, 0)) == EINVAL);
    CHECK(why(mmap(p, 4096, RW, OWN | MAP_FIXED_NOREPLACE, -1, 0)) == EEXIST);
    CHECK(munmap(p + 1, 4096) == -1 && errno == EINVAL);
    CHECK(munmap(p, none) == -1 && errno == EINVAL);
    CHECK(munmap(p, most) == -1 && errno == EINVAL);
    CHECK(why(mremap(p + 1, 4096, 8192, MREMAP_MAYMOVE)) == EINVAL);
    CHECK(why(mremap(p, 4096, none, MREMAP_MAYMOVE)) == EINVAL);
    CHECK(why(mremap(p, 4096, 8192, 64)) == EINVAL);
    CHECK(why(mremap(p, 4096, 8192, MREMAP_FIXED, q)) == EINVAL);
    CHECK(why(mremap(p, 16384, 16384, MREMAP_MAYMOVE | MREMAP_FIXED, p + 4096)) == EINVAL);
    say("errno %d for what is too large\n", why(mremap(p, 4096, large, MREMAP_MAYMOVE)));
    p[0] = q[0] = 1;
    CHECK(munmap(p, 16384) == 0 && munmap(q, 16384) == 0);
    CHECK(why(mremap(p, 4096, 8192, MREMAP_MAYMOVE)) == EFAULT);
    CHECK(munmap(p, 16384) == 0);
    say("each has its errno\n");
    return 0;
}
