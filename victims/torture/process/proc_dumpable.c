/* A program that may not be dumped: its files under /proc belong to root, and it stays so. */
#include "../torture.h"
#include <sys/prctl.h>

int main(void)
{
    churn(100);
    CHECK(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0);
    churn(30000);
    CHECK(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        churn(5000);
        CHECK(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0);
        exit(0);
    }
    CHECK(status_of(child) == 0);
    say("not dumpable\n");
    return 0;
}
