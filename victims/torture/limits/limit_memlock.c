/* All memory is locked, what is there and what will come: a recorder that reserves much and uses little makes it all resident.
 *
 * @may lose: the log's mappings count as well
 * @uncounted: what is lost is missing
 */
#include "../torture.h"
#include <sys/mman.h>

int main(void)
{
    if (getuid() != 0)
        skip("under a limit the recorder's memory counts as well");
    churn(2000);
    if (mlockall(MCL_CURRENT | MCL_FUTURE) < 0)
        skip("no locked memory: %s", strerror(errno));
    churn(30000);
    long locked = 0;
    char line[200];
    FILE *status = fopen("/proc/self/status", "r");
    if (!status)
        skip("no /proc/self/status");
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "VmLck: %ld", &locked) == 1)
            break;
    fclose(status);
    say("%s\n", locked < 64 << 10 ? "less than 64 MiB" : "too much");
    void *big = keep(malloc(4 << 20));
    CHECK(big);
    free(big);
    CHECK(munlockall() == 0);
    churn(2000);
    return 0;
}
