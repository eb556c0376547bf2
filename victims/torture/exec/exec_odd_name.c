/* Programs whose names hold a line's end, quotes, bytes that are no UTF-8, 255 letters; that were deleted before they ran; and
 * that never had a name.
 */
#include "../torture.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

extern char **environ;

static void copy_to(int to)
{
    struct stat about;
    int from = open("/proc/self/exe", O_RDONLY);
    CHECK(from >= 0 && to >= 0 && fstat(from, &about) == 0);
    for (off_t left = about.st_size; left > 0;) {
        ssize_t sent = sendfile(to, from, NULL, (size_t)left);
        CHECK(sent > 0);
        left -= sent;
    }
    CHECK(close(from) == 0 && fchmod(to, 0700) == 0);
}

int main(int argc, char **argv)
{
    (void)argv;
    churn(2000);
    if (argc > 1)
        exit(5);
    char longest[256];
    memset(longest, 'l', 255);
    longest[255] = 0;
    const char *names[] = {"line\nend", " 'quote\" $(x) ", "\xff\xfe\x80", "%s%n%p.%e", "x (deleted)", longest, NULL};
    for (int i = 0; i < 7; i++) {
        int to = names[i] ? open(names[i], O_WRONLY | O_CREAT | O_EXCL, 0700) : memfd_create("no name", MFD_CLOEXEC);
        copy_to(to);
        if (names[i])
            CHECK(close(to) == 0);
        pid_t child = vfork();
        CHECK(child >= 0);
        if (!child) {
            char *arguments[] = {"odd", "again", NULL};
            if (names[i])
                execv(names[i], arguments);
            else
                fexecve(to, arguments, environ);
            _exit(96);
        }
        CHECK(status_of(child) == 5);
        if (names[i])
            CHECK(unlink(names[i]) == 0);
        else
            CHECK(close(to) == 0);
    }
    say("seven names\n");
    return 0;
}
