/* An exec of a script, whose interpreter is this very program, and of one whose interpreter is a shell. */
#include "../torture.h"
#include <fcntl.h>
#include <sys/stat.h>

static void script(const char *name, const char *interpreter)
{
    char text[300];
    int length = snprintf(text, sizeof text, "#!%s\nexit 9\n", interpreter);
    int fd = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0700);
    CHECK(fd >= 0 && write(fd, text, (size_t)length) == length && close(fd) == 0);
}

static pid_t run(const char *name)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        for (int i = 0; i < 200; i++)
            free(keep(malloc(100 + (size_t)i)));
        execl(name, name, (char *)NULL);
        CHECK(!"exec");
    }
    return child;
}

int main(int argc, char **argv)
{
    char self[200];
    if (argc > 1) {
        churn(50);
        CHECK(!strcmp(argv[1], "./ours"));
        return 8;
    }
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    CHECK(length > 0);
    self[length] = 0;
    if (length > 120)
        skip("the path of this program is too long for a script");
    script("ours", self);
    script("other", "/bin/sh");
    for (int i = 0; i < 3; i++) {
        CHECK(status_of(run("./ours")) == 8);
        CHECK(status_of(run("./other")) == 9);
    }
    CHECK(unlink("ours") == 0 && unlink("other") == 0);
    say("scripts ran\n");
    return 0;
}
