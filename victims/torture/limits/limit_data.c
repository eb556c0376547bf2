/* RLIMIT_DATA, which counts private memory: 48 MiB from the start of the image, 24 of them the program's own in one block.
 *
 * @may lose: the recorder has to do with the rest
 * @may lack: or without
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
            struct rlimit limit = {48 << 20, 48 << 20};
            CHECK(setrlimit(RLIMIT_DATA, &limit) == 0);
            execl("/proc/self/exe", "limit_data", "again", NULL);
            _exit(96);
        }
        return status_of(child);
    }
    churn(5000);
    void *big = keep(malloc(24 << 20));
    CHECK(big);
    errno = 0;
    CHECK(!keep(malloc(48 << 20)) && errno == ENOMEM);
    churn(30000);
    free(big);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        churn(5000);
        exit(0);
    }
    CHECK(status_of(child) == 0);
    say("24 of 48\n");
    return 0;
}
