/* Locks of a process go with the first descriptor of the file that it closes: nobody may open and close the program's files. */
#include "../torture.h"
#include <fcntl.h>
#include <sys/file.h>

int main(void)
{
    static const char *names[] = {"/proc/self/exe", "locked"};
    for (int i = 0; i < 2; i++) {
        int fd = open(names[i], i ? O_RDWR | O_CREAT : O_RDONLY, 0644);
        CHECK(fd >= 0);
        struct flock lock = {.l_type = i ? F_WRLCK : F_RDLCK, .l_whence = SEEK_SET};
        CHECK(fcntl(fd, F_SETLK, &lock) == 0);
        churn(30000);
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            struct flock seen = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
            churn(5000);
            CHECK(fcntl(fd, F_GETLK, &seen) == 0);
            exit(seen.l_type == lock.l_type && seen.l_pid == getppid() ? 0 : 9);
        }
        CHECK(status_of(child) == 0);
    }
    say("still locked\n");
    return 0;
}
