/* The first free descriptor number is what it is without a recorder: in a constructor, in main, while the log grows, in a child. */
#include "../torture.h"
#include <fcntl.h>

static int early;

static int first(void)
{
    int fd = open("/dev/null", O_RDONLY);
    CHECK(fd >= 0 && close(fd) == 0);
    return fd;
}

__attribute__((constructor)) static void before(void)
{
    early = first();
}

int main(void)
{
    say("constructor %d, main %d\n", early, first());
    for (int i = 0; i < 200; i++) {
        churn(200);
        CHECK(first() == early);
    }
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        CHECK(first() == early);
        churn(5000);
        CHECK(first() == early);
        exit(0);
    }
    CHECK(status_of(child) == 0);
    return 0;
}
