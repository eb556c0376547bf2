/* A child of little on a terminal of its own, by forkpty, which forks by libc's internal name: once the child of a child, whose
 * log has to be there for the grandchild to name.
 *
 * @flags -lutil
 */
#include "../torture.h"
#include <pty.h>

int main(void)
{
    void *inherited = keep(malloc(1234));
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        int terminal;
        void *mine = keep(malloc(77));
        pid_t grandchild = forkpty(&terminal, NULL, NULL, NULL);
        if (grandchild < 0)
            exit(77);
        if (!grandchild) {
            free(inherited);
            free(mine);
            churn(300);
            exit(3);
        }
        char byte;
        while (read(terminal, &byte, 1) > 0)
            ;
        CHECK(status_of(grandchild) == 3);
        free(mine);
        free(inherited);
        exit(4);
    }
    int status = status_of(child);
    if (status == 77)
        skip("no terminals");
    CHECK(status == 4);
    free(inherited);
    say("two generations\n");
    return 0;
}
