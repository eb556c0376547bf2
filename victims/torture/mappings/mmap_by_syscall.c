/* Mappings are made by mmap and undone by the bare system call, and the other way round: the same addresses come again. */
#include "../torture.h"
#include <sys/mman.h>
#include <sys/syscall.h>

enum { SIZE = 128 << 10 };

int main(void)
{
    for (int i = 0; i < 2000; i++) {
        char *p;
        if (i % 2)
            p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        else
            p = (char *)syscall(SYS_mmap, NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(p != MAP_FAILED);
        p[0] = p[SIZE - 1] = 1;
        if (i % 3 == 0)
            CHECK((p = mremap(p, SIZE, 2 * SIZE, MREMAP_MAYMOVE)) != MAP_FAILED && p[SIZE - 1] == 1);
        size_t size = i % 3 ? SIZE : 2 * SIZE;
        if (i / 2 % 2)
            CHECK(munmap(p, size) == 0);
        else
            CHECK(syscall(SYS_munmap, p, size) == 0);
        free(keep(malloc(100)));
    }
    say("half seen\n");
    return 0;
}
