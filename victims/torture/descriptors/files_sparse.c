/* A file of a terabyte with a hole in it and a shared mapping far inside: offsets and lengths are those that
 * the program set.
 */
#include "../torture.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

int main(void)
{
    const off_t far = (off_t)5 << 30;
    struct stat about;
    int fd = open("sparse", O_RDWR | O_CREAT | O_EXCL, 0644);
    CHECK(fd >= 0);
    if (ftruncate(fd, (off_t)1 << 40) < 0)
        skip("no terabyte: %s", strerror(errno));
    CHECK(pwrite(fd, "far", 3, far) == 3);
    char *map = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, far);
    CHECK(map != MAP_FAILED && !memcmp(map, "far", 3));
    churn(20000);
    map[4096] = 'x';
    CHECK(munmap(map, 1 << 20) == 0);
    CHECK(lseek(fd, 0, SEEK_DATA) == far && lseek(fd, 0, SEEK_SET) == 0);
    CHECK(fstat(fd, &about) == 0 && about.st_size == (off_t)1 << 40 && about.st_blocks < 10000);
    CHECK(ftruncate(fd, 100) == 0);
    churn(1000);
    CHECK(fstat(fd, &about) == 0 && about.st_size == 100);
    say("a hundred bytes\n");
    return 0;
}
