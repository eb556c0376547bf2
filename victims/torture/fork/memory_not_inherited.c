/* Blocks that a child does not inherit, or inherits empty, by the program's own advice to the kernel. */
#include "../torture.h"
#include <sys/mman.h>

int main(void)
{
    enum { SIZE = 1 << 16 };
    char *gone = NULL, *empty = NULL;
    CHECK(posix_memalign((void **)&gone, SIZE, SIZE) == 0 && posix_memalign((void **)&empty, SIZE, SIZE) == 0);
    memset(gone, 1, SIZE);
    memset(empty, 1, SIZE);
    CHECK(madvise(gone, SIZE, MADV_DONTFORK) == 0);
    if (madvise(empty, SIZE, MADV_WIPEONFORK) < 0)
        skip("no such advice: %s", strerror(errno));
    for (int i = 0; i < 3; i++) {
        churn(1000);
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            unsigned char there;
            CHECK(mincore(gone, 4096, &there) == -1 && errno == ENOMEM);
            CHECK(empty[0] == 0 && empty[SIZE - 1] == 0);
            churn(3000);
            exit(0);
        }
        CHECK(status_of(child) == 0 && empty[0] == 1);
    }
    CHECK(madvise(gone, SIZE, MADV_DOFORK) == 0 && madvise(empty, SIZE, MADV_KEEPONFORK) == 0);
    free(gone);
    free(empty);
    say("three children\n");
    return 0;
}
