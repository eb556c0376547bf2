/* close_range takes every descriptor from 0 on at once, while there is much to record. */
#include "../torture.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

int main(void)
{
    churn(1000);
    int out = fcntl(1, F_DUPFD, 900);
    CHECK(out == 900);
    if (syscall(SYS_close_range, 0, 899, 0) < 0)
        skip("no close_range: %s", strerror(errno));
    churn(20000);
    for (int i = 0; i < 10; i++) {
        char name[32];
        snprintf(name, sizeof name, "low.%d", i);
        CHECK(open(name, O_RDWR | O_CREAT | O_EXCL, 0600) == i);
        churn(3000);
    }
    for (int i = 0; i < 10; i++) {
        struct stat about;
        CHECK(fstat(i, &about) == 0 && about.st_size == 0);
    }
    CHECK(write(out, "nothing in the low ones\n", 24) == 24);
    return 0;
}
