/* A program that has 64 MiB of address space from the start needs 32 of them for itself: the recorder has to do with the rest,
 * or without.
 *
 * @may lose: or with less than it needs
 * @uncounted: and so has the second recorder
 */
#include "../torture.h"
#include <sys/resource.h>

int main(int argc, char **argv)
{
    (void)argv;
    if (argc == 1) {
        churn(100);
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            struct rlimit limit = {64 << 20, 64 << 20};
            CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
            execl("/proc/self/exe", "limit_as_start", "again", NULL);
            _exit(96);
        }
        return status_of(child);
    }
    churn(5000);
    void *big = keep(malloc(32 << 20));
    CHECK(big);
    touch(big, 32 << 20);
    churn(20000);
    free(big);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        churn(5000);
        exit(0);
    }
    CHECK(status_of(child) == 0);
    say("32 of 64\n");
    return 0;
}
