/* One file is put under every number by dup2, and written to through all of them. */
#include "../torture.h"
#include <fcntl.h>
#include <sys/stat.h>

int main(void)
{
    churn(500);
    int file = open("all", O_RDWR | O_CREAT | O_APPEND, 0644);
    CHECK(file >= 0);
    int top = 3;
    for (int fd = 3; fd < 1000; fd++) {
        if (fd != file && dup2(file, fd) != fd)
            break;
        top = fd;
    }
    for (int fd = 3; fd <= top; fd++) {
        churn(20);
        CHECK(write(fd, "x", 1) == 1);
    }
    struct stat about;
    CHECK(fstat(file, &about) == 0 && about.st_size == top - 2);
    churn(5000);
    for (int fd = 3; fd <= top; fd++)
        CHECK(close(fd) == 0);
    churn(5000);
    CHECK(open("all", O_RDONLY) == 3);
    return 0;
}
