/* A program whose standard descriptors are closed from the start gets 0, 1 and 2 for its own files; a recorder that opens and
 * keeps, or complains, writes into them.
 */
#include "../torture.h"
#include <fcntl.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
    (void)argv;
    if (argc == 1) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            for (int fd = 0; fd < 64; fd++)
                close(fd);
            execl("/proc/self/exe", "fd_std_closed", "again", NULL);
            _exit(96);
        }
        say("status %d\n", status_of(child));
        return 0;
    }
    static const char *names[] = {"zero", "one", "two"};
    for (int fd = 0; fd < 3; fd++)
        if (open(names[fd], O_RDWR | O_CREAT | O_EXCL, 0644) != fd)
            return 10 + fd;
    churn(20000);
    for (int fd = 0; fd < 3; fd++) {
        struct stat about;
        if (write(fd, "abc", 3) != 3 || fstat(fd, &about) || about.st_size != 3)
            return 20 + fd;
    }
    return 0;
}
