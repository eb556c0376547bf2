/* Children of the bare system call: no handler of fork runs, and libc does not know that it is another process.
 *
 * @uncounted: nobody sees that call, so no log says where the child came from
 */
#include "../torture.h"
#include <sys/syscall.h>

static pid_t bare_fork(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

int main(void)
{
    for (int i = 0; i < 8; i++) {
        void *inherited = keep(malloc(2000)), *other = keep(malloc(100));
        pid_t child = bare_fork();
        CHECK(child >= 0);
        if (!child) {
            free(inherited);
            other = keep(realloc(other, 9000));
            churn(200);
            pid_t grandchild = i % 2 ? bare_fork() : fork();
            CHECK(grandchild >= 0);
            free(other);
            churn(200);
            if (!grandchild)
                _exit(100);
            CHECK(status_of(grandchild) == 100);
            exit(i);
        }
        churn(200);
        CHECK(status_of(child) == i);
        free(inherited);
        free(other);
    }
    say("bare children\n");
    return 0;
}
