/* Every way to exec oneself, one after the other in one process. */
#include "../torture.h"
#include <fcntl.h>
#include <sys/syscall.h>

#define SELF "/proc/self/exe"

int main(int argc, char **argv)
{
    int way = argc > 1 ? atoi(argv[1]) : 0;
    char number[12];
    char *next[] = {argv[0], number, NULL};
    snprintf(number, sizeof number, "%d", way + 1);
    void *held = keep(malloc(4000));
    churn(50);
    int fd = open(SELF, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && held);
    switch (way) {
    case 0: execv(SELF, next); break;
    case 1: execve(SELF, next, environ); break;
    case 2: execvp(SELF, next); break;
    case 3: execvpe(SELF, next, environ); break;
    case 4: execl(SELF, argv[0], number, (char *)NULL); break;
    case 5: execlp(SELF, argv[0], number, (char *)NULL); break;
    case 6: execle(SELF, argv[0], number, (char *)NULL, environ); break;
    case 7: fexecve(fd, next, environ); break;
    case 8: execveat(fd, "", next, environ, AT_EMPTY_PATH); break;
    case 9: execveat(AT_FDCWD, SELF, next, environ, 0); break;
    case 10: syscall(SYS_execve, SELF, next, environ); break;
    case 11: CHECK(fcntl(fd, F_SETFD, 0) == 0); syscall(SYS_execveat, fd, "", next, environ, AT_EMPTY_PATH); break;
    default: say("eleven ways and one\n"); return 0;
    }
    CHECK(!"exec");
}
