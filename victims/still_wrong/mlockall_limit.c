/* A process without privileges locks all its memory, under the usual limit of 8 MiB: what a recorder maps counts as well.
 *
 * FAILS: memlog's 6 MiB are locked too and fill the 8 MiB allowed, so malloc returns NULL where it did not.
 */
#include "../torture/torture.h"
#include <sys/mman.h>
#include <sys/resource.h>

int main(void)
{
    const struct rlimit limit = {8 << 20, 8 << 20};
    CHECK(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
    if (!geteuid())
        CHECK(setresuid(65534, 65534, 65534) == 0);
    if (mlockall(MCL_CURRENT | MCL_FUTURE))
        skip("mlockall: %s", strerror(errno));
    churn(2000);
    void *p = keep(malloc(1 << 20));
    CHECK(p);
    free(p);
    say("locked\n");
    return 0;
}
