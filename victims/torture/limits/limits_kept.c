/* All limits, and the most that was used of them, are the program's own: none is raised, lowered or asked to be. */
#include "../torture.h"
#include <sys/resource.h>

int main(void)
{
    struct rlimit before[RLIM_NLIMITS], after;
    for (int which = 0; which < RLIM_NLIMITS; which++) {
        CHECK(getrlimit(which, &before[which]) == 0);
        say("%d: %lld %lld\n", which, (long long)before[which].rlim_cur, (long long)before[which].rlim_max);
    }
    churn(30000);
    for (int which = 0; which < RLIM_NLIMITS; which++) {
        CHECK(getrlimit(which, &after) == 0);
        CHECK(after.rlim_cur == before[which].rlim_cur && after.rlim_max == before[which].rlim_max);
    }
    return 0;
}
