/* Error paths of libc that allocate or free: strerror of a number that is none, dlerror's of another thread, perror, psignal,
 * fopen and opendir that fail, a stream on a descriptor that is closed, getcwd in a folder that is gone.
 */
#include "../torture.h"
#include <dirent.h>
#include <sys/stat.h>

static void *work(void *argument)
{
    for (int i = 0; i < 50; i++) {
        CHECK(strstr(strerror(12345 + i), "12345") || i);
        CHECK(strsignal(200 + i));
        CHECK(!fopen("nothing/there", "r") && errno == ENOENT);
        CHECK(!fopen(".", "q") && errno == EINVAL);
        CHECK(!opendir("nothing") && errno == ENOENT);
        CHECK(!fdopen(-1, "r") && errno == EBADF);
        CHECK(!realpath("nothing/at/all", NULL) && errno == ENOENT);
        CHECK(!popen("true", "q") && errno == EINVAL);
        churn(10);
    }
    return argument;
}

int main(void)
{
    pthread_t id = start_thread(work, NULL);
    work(NULL);
    join_thread(id);
    errno = 54321;
    perror("here");
    psignal(SIGUSR1, "there");
    FILE *full = fopen("/dev/full", "w");
    CHECK(full && fprintf(full, "%d", 5) == 1 && fclose(full) == EOF && errno == ENOSPC);
    CHECK(mkdir("gone", 0700) == 0 && chdir("gone") == 0 && rmdir("../gone") == 0);
    CHECK(!getcwd(NULL, 0) && errno == ENOENT);
    churn(100);
    say("failed\n");
    return 0;
}
