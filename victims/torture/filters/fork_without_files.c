/* Children that may open no file, or write none, or get not a page more memory, from before their first allocation.
 *
 * @may lack: no log can be made
 * @uncounted: neither recorder can make a file, each in its own way
 */
#include "../torture.h"
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>

static void limit(int what, rlim_t most)
{
    struct rlimit limits = {most, most};
    CHECK(setrlimit(what, &limits) == 0);
}

int main(void)
{
    unsigned long pages = 0;
    CHECK(mallopt(M_TRIM_THRESHOLD, 64 << 20) == 1);
    void *inherited = keep(malloc(100000));
    churn(100);
    FILE *file = fopen("/proc/self/statm", "re");
    CHECK(file && fscanf(file, "%lu", &pages) == 1 && fclose(file) == 0);
    for (int i = 0; i < 8; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            switch (i % 4) {
            case 0: limit(RLIMIT_NOFILE, 3); break;
            case 1: limit(RLIMIT_NOFILE, 0); break;
            case 2: limit(RLIMIT_FSIZE, 0); break;
            case 3: limit(RLIMIT_AS, pages * 4096); break;
            }
            free(inherited);
            churn(i < 4 ? 30 : 6000);
            CHECK(i % 4 > 1 || (open("/dev/null", O_RDONLY) < 0 && errno == EMFILE));
            exit(i);
        }
        CHECK(status_of(child) == i);
        churn(30);
    }
    free(inherited);
    say("poor children\n");
    return 0;
}
