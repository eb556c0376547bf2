/* A process number comes again at once, for another child of the same parent, while the first one's log is there.
 *
 * @uncounted: nobody sees that call, so no log says where the second child came from
 */
#include "../torture.h"
#include <linux/sched.h>
#include <sys/syscall.h>

int main(void)
{
    pid_t first = fork();
    CHECK(first >= 0);
    if (!first) {
        churn(200);
        exit(1);
    }
    CHECK(status_of(first) == 1);
    for (int i = 2; i < 6; i++) {
        struct clone_args args = {.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&first, .set_tid_size = 1};
        pid_t again = (pid_t)syscall(SYS_clone3, &args, sizeof args);
        if (again < 0)
            skip("no process may choose its number: %s", strerror(errno));
        churn(200);
        if (!again) {
            CHECK(getpid() == first);
            exit(i);
        }
        CHECK(again == first && status_of(again) == i);
    }
    say("one number, five children\n");
    return 0;
}
