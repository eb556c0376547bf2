/* Mappings of every kind: shared with a child, of a file, growing down, populated, without reserve, huge, locked, executable. */
#include "../torture.h"
#include <fcntl.h>
#include <sys/mman.h>

enum { SIZE = 64 << 10, RW = PROT_READ | PROT_WRITE };

int main(void)
{
    static const int kinds[] = {MAP_PRIVATE, MAP_SHARED, MAP_PRIVATE | MAP_POPULATE, MAP_PRIVATE | MAP_NORESERVE,
        MAP_PRIVATE | MAP_GROWSDOWN | MAP_STACK, MAP_PRIVATE | MAP_LOCKED, MAP_PRIVATE | MAP_32BIT, MAP_SHARED | MAP_NONBLOCK};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char *p = mmap(NULL, SIZE, RW | (i == 0 ? PROT_EXEC : 0), kinds[i] | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED && kinds[i] & MAP_LOCKED && (errno == EAGAIN || errno == EPERM))
            continue; /* not allowed so much */
        CHECK(p != MAP_FAILED);
        touch(p, SIZE);
        p[100] = 1;
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            p[100] = 2;
            churn(10);
            CHECK(munmap(p, SIZE) == 0);
            exit(0);
        }
        CHECK(status_of(child) == 0 && p[100] == (kinds[i] & MAP_SHARED && !(kinds[i] & MAP_PRIVATE) ? 2 : 1));
        CHECK(munmap(p, SIZE) == 0);
    }
    int file = open("mapped", O_RDWR | O_CREAT | O_EXCL, 0600);
    CHECK(file >= 0 && ftruncate(file, SIZE) == 0);
    char *p = mmap(NULL, SIZE, RW, MAP_SHARED, file, 0), *q = mmap(NULL, SIZE / 2, PROT_READ, MAP_PRIVATE, file, SIZE / 2);
    CHECK(p != MAP_FAILED && q != MAP_FAILED && close(file) == 0);
    memset(p + SIZE - 10, 'x', 10);
    CHECK(q[SIZE / 2 - 1] == 'x' && msync(p, SIZE, MS_SYNC) == 0);
    CHECK(munmap(p, SIZE) == 0 && munmap(q, SIZE / 2) == 0);
    say("of every kind\n");
    return 0;
}
