/* Nothing is said on standard error: it is a pipe that another program may parse, or closed at its other end.
 *
 * @may lack: children exec
 */
#include "../torture.h"
#include <fcntl.h>

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        churn(5000);
        exit(0);
    }
    int ends[2];
    CHECK(pipe(ends) == 0);
    for (int broken = 0; broken < 2; broken++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            CHECK(dup2(ends[1], 2) == 2);
            close(ends[0]);
            close(ends[1]);
            churn(100);
            execl("/proc/self/exe", "fd_stderr_empty", "again", NULL);
            _exit(96);
        }
        CHECK(status_of(child) == 0);
        CHECK(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
        char byte;
        CHECK(read(ends[0], &byte, 1) == -1 && errno == EAGAIN);
        if (!broken) {
            close(ends[0]);
            int other[2];
            CHECK(pipe(other) == 0);
            ends[0] = other[0];
        }
    }
    say("silent\n");
    return 0;
}
