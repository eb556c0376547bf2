/* All memory there is and will be is locked: what a recorder reserves sparsely would count against the limit, or become
 * resident.
 *
 * @uncounted: the second recorder maps a file of a gigabyte, which would be locked as well
 */
#include "../torture.h"
#include <sys/mman.h>
#include <sys/resource.h>

int main(void)
{
    if (mlockall(MCL_CURRENT | MCL_FUTURE))
        skip("mlockall: %s", strerror(errno));
    churn(2000);
    void *p = keep(malloc(8 << 20));
    CHECK(p || errno == EAGAIN || errno == ENOMEM);
    free(p);
    struct rusage usage;
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    CHECK(usage.ru_maxrss < 1 << 20);
    CHECK(munlockall() == 0);
    churn(2000);
    say("locked and let go\n");
    return 0;
}
