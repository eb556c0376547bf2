/* Children that change their root, their user, their folder, which is then removed, or their mask for new files, before
 * they allocate anything: the place of the logs may be out of reach.
 *
 * @may lack: no log can be made
 * @uncounted: neither recorder can make a file, each in its own way
 */
#include "../torture.h"
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>

static void elsewhere(int way)
{
    switch (way) {
    case 0: CHECK(chroot("root") == 0 && chdir("/") == 0); break;
    case 1: CHECK(chroot("root") == 0); break;
    case 2: CHECK(setgroups(0, NULL) == 0 && setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0); break;
    case 3: CHECK(chdir("gone") == 0 && rmdir("../gone") == 0); break;
    case 4: umask(0777); break;
    }
}

int main(void)
{
    if (geteuid() != 0)
        skip("only root may change its root");
    CHECK(mkdir("root", 0755) == 0);
    for (int i = 0; i < 10; i++) {
        void *inherited = keep(malloc(1000));
        CHECK(i % 5 != 3 || mkdir("gone", 0755) == 0);
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            elsewhere(i % 5);
            free(inherited);
            churn(i < 5 ? 50 : 6000);
            exit(i);
        }
        CHECK(status_of(child) == i);
        free(inherited);
    }
    say("children elsewhere\n");
    return 0;
}
