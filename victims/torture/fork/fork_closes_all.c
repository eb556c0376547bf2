/* A child closes every descriptor before it allocates anything, opens files of its own, which get the lowest numbers, and
 * writes to them while it allocates. */
#include "../torture.h"
#include <fcntl.h>
#include <sys/syscall.h>

int main(void)
{
    churn(50);
    for (int i = 0; i < 4; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            char name[20], line[32];
            if (i % 2 || syscall(SYS_close_range, 0, ~0u, 0) < 0)
                for (int fd = 0; fd < 1024; fd++)
                    close(fd);
            snprintf(name, sizeof name, "file%d", i);
            for (int fd = 0; fd < 3; fd++)
                if (open(name, O_CREAT | O_WRONLY | O_APPEND, 0600) != fd)
                    _exit(97);
            for (int round = 0; round < 300; round++) {
                churn(20);
                int length = snprintf(line, sizeof line, "line %d\n", round);
                if (write(round % 3, line, (size_t)length) != length)
                    _exit(96);
            }
            if (i < 2)
                exit(i);
            _exit(i);
        }
        CHECK(status_of(child) == i);
    }
    say("files are the program's\n");
    return 0;
}
