/* All capabilities are dropped, and more cannot be had: what root could open is refused from then on. */
#include "../torture.h"
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

int main(void)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}}, seen[2];
    churn(500);
    for (int cap = 0; cap < 64; cap++)
        prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
    CHECK(syscall(SYS_capset, &head, none) == 0);
    churn(40000);
    CHECK(syscall(SYS_capget, &head, seen) == 0);
    CHECK(!seen[0].effective && !seen[0].permitted && !seen[1].effective);
    CHECK(chroot(".") == -1 && errno == EPERM);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        churn(5000);
        exit(0);
    }
    CHECK(status_of(child) == 0);
    say("no capabilities\n");
    return 0;
}
