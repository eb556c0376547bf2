/* An exec that fails, for every reason, and the program goes on: in main, in a thread, in forked and vforked children. */
#include "../torture.h"
#include <fcntl.h>
#include <sys/stat.h>

static void *try_all(void *nothing)
{
    char *const argv[] = {(char *)"none", NULL};
    char **large = keep(calloc(4000, sizeof *large));
    char *text = keep(malloc(1 << 20));
    memset(text, 'x', (1 << 20) - 1);
    text[(1 << 20) - 1] = 0;
    for (int i = 0; i < 3000; i++)
        large[i] = text;
    CHECK(execv("/nowhere/at/all", argv) < 0 && errno == ENOENT);
    CHECK(execv("/etc/passwd/none", argv) < 0 && errno == ENOTDIR);
    CHECK(execv("/", argv) < 0 && errno == EACCES);
    CHECK(execv("noise", argv) < 0 && errno == ENOEXEC);
    CHECK(execve("/proc/self/exe", large, environ) < 0 && errno == E2BIG);
    CHECK(execvp("no-such-program-anywhere", argv) < 0 && errno == ENOENT);
    CHECK(fexecve(-1, argv, environ) < 0 && errno == EINVAL);
    free(text);
    free(large);
    churn(50);
    return nothing;
}

__attribute__((noinline)) static pid_t start(int shares)
{
    pid_t child = shares ? vfork() : fork();
    if (!child) {
        if (!shares)
            try_all(NULL);
        execv("noise", (char *[]){(char *)"none", NULL});
        _exit(errno == ENOEXEC ? 21 : 22);
    }
    return child;
}

int main(void)
{
    int fd = open("noise", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0700);
    CHECK(fd >= 0 && fchmod(fd, 0700) == 0 && write(fd, "\1\2\3\4noise\n", 10) == 10 && close(fd) == 0);
    try_all(NULL);
    join_thread(start_thread(try_all, NULL));
    CHECK(status_of(start(0)) == 21);
    CHECK(status_of(start(1)) == 21);
    CHECK(unlink("noise") == 0);
    say("no exec came off\n");
    return 0;
}
