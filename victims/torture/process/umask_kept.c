/* The mask for new files is the program's, not changed even for a moment; and no log is anybody's but its owner's to read. */
#include "../torture.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

static volatile int done;

static void *work(void *nothing)
{
    while (!done)
        churn(200);
    return nothing;
}

int main(void)
{
    umask(0);
    pthread_t id = start_thread(work, NULL);
    for (int i = 0; i < 2000; i++)
        CHECK(umask(0) == 0);
    done = 1;
    join_thread(id);
    int fd = open("everybody", O_WRONLY | O_CREAT | O_EXCL, 0777);
    CHECK(fd >= 0 && close(fd) == 0 && mkdir("folder", 0777) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        churn(2000);
        CHECK(umask(077) == 0);
        exit(0);
    }
    CHECK(status_of(child) == 0);
    CHECK(umask(0777) == 0);
    churn(2000);
    fd = open("nobody", O_WRONLY | O_CREAT | O_EXCL, 0777);
    CHECK(fd >= 0 && close(fd) == 0);
    CHECK(umask(022) == 0777);
    const char *logs = getenv("MEMLOG_DIR");
    DIR *folder = logs ? opendir(logs) : NULL;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        struct stat about;
        if (!strstr(entry->d_name, ".memlog"))
            continue;
        CHECK(fstatat(dirfd(folder), entry->d_name, &about, 0) == 0);
        CHECK((about.st_mode & 07777) == 0600);
    }
    if (folder)
        closedir(folder);
    say("the mask is ours\n");
    return 0;
}
