/* Grandchildren whose parent was killed go on under the subreaper, and end after it in every way. */
#include "../torture.h"
#include <sys/prctl.h>

int main(void)
{
    int gate[2], sum = 0;
    CHECK(pipe(gate) == 0 && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        churn(50);
        for (int i = 1; i <= 8; i++) {
            pid_t orphan = fork();
            CHECK(orphan >= 0);
            if (!orphan) {
                char byte;
                CHECK(close(gate[1]) == 0);
                churn(50);
                CHECK(read(gate[0], &byte, 1) == 0);
                churn(50);
                if (i % 2)
                    _exit(i);
                exit(i);
            }
        }
        churn(50);
        kill(getpid(), SIGKILL);
    }
    CHECK(status_of(child) == 1000 + SIGKILL);
    CHECK(close(gate[1]) == 0);
    for (int i = 1; i <= 8; i++)
        sum += status_of(-1);
    CHECK(sum == 36);
    say("eight orphans\n");
    return 0;
}
