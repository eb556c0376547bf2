/* The effective user changes and changes back, as daemons do around each file they open for somebody.
 */
#include "../torture.h"
#include <fcntl.h>
#include <sys/stat.h>

int main(void)
{
    if (getuid() != 0)
        skip("only root can become another");
    CHECK(chmod(".", 0777) == 0);
    for (int i = 0; i < 50; i++) {
        CHECK(setegid(65534) == 0 && seteuid(65534) == 0);
        churn(800);
        char name[32];
        snprintf(name, sizeof name, "of_nobody.%d", i % 4);
        int fd = open(name, O_WRONLY | O_CREAT, 0644);
        struct stat about;
        CHECK(fd == -1 ? errno == EACCES : fstat(fd, &about) == 0 && about.st_uid == 65534 && close(fd) == 0);
        CHECK(seteuid(0) == 0 && setegid(0) == 0);
        churn(100);
    }
    say("root again\n");
    return 0;
}
