/* Memory until there is none, under a limit of address space; then all of it goes, and once more. malloc fails with ENOMEM and
 * nothing else, and much of what the limit leaves is the program's.
 *
 * @may lose: the log needs address space as well
 * @uncounted: and so does the second recorder's
 */
#include "../torture.h"
#include <sys/resource.h>

static size_t fill(void)
{
    enum { SIZE = 100000 };
    void **last = NULL;
    size_t count = 0;
    for (;;) {
        errno = 0;
        void **block = keep(malloc(SIZE));
        if (!block)
            break;
        *block = last;
        last = block;
        count++;
    }
    CHECK(errno == ENOMEM);
    for (int i = 0; i < 1000; i++) {
        errno = 0;
        CHECK(!keep(malloc(SIZE)) && errno == ENOMEM);
        CHECK(!keep(calloc(SIZE, 10)) && errno == ENOMEM);
        CHECK(!keep(realloc(last, SIZE * 4)) && errno == ENOMEM);
    }
    while (last) {
        void **next = *last;
        free(last);
        last = next;
    }
    return count;
}

int main(void)
{
    churn(1000);
    long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (!statm || fscanf(statm, "%ld", &pages) != 1)
        skip("no /proc/self/statm");
    fclose(statm);
    rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (64 << 20);
    struct rlimit limit = {most, most};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(fill() > 400);
    churn(20000);
    say("full three times\n");
    return 0;
}
