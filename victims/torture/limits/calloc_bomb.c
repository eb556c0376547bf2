/* Blocks of a gigabyte of zeros are asked for until the limit on address space is met; then all goes back and work goes on. */
#include "../torture.h"
#include <sys/resource.h>

int main(void)
{
    enum { MOST = 64 };
    char *bombs[MOST];
    const struct rlimit limit = {(rlim_t)12 << 30, (rlim_t)12 << 30};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    for (int round = 0; round < 5; round++) {
        int count = 0;
        errno = 0;
        while (count < MOST && (bombs[count] = keep(calloc(1 << 10, 1 << 20))))
            count++;
        CHECK(count > 3 && count < MOST && errno == ENOMEM);
        churn(500);
        while (count--) {
            CHECK(bombs[count][12345678] == 0);
            free(bombs[count]);
        }
        churn(500);
    }
    say("the limit held\n");
    return 0;
}
