/* Children of root become nobody, before or after their first allocation: the log's folder may be closed to them.
 *
 * @uncounted: the second recorder may be refused a file
 */
#include "../torture.h"
#include <grp.h>

enum { NOBODY = 65534 };

static void become(int how)
{
    if (how & 1)
        churn(1000);
    CHECK(setgroups(0, NULL) == 0);
    if (how & 2)
        CHECK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    else
        CHECK(setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0);
    churn(30000);
    CHECK(getuid() == NOBODY && geteuid() == NOBODY && setuid(0) == -1);
}

int main(void)
{
    if (getuid() != 0)
        skip("only root can become another");
    for (int how = 0; how < 4; how++) {
        churn(200);
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            become(how);
            exit(how);
        }
        CHECK(status_of(child) == how);
    }
    say("four nobodies\n");
    become(3);
    return 0;
}
