/* Behind a chroot the log's name means another file, one of the program's, which must stay as it is.
 *
 * @uncounted: the second recorder may take the other file
 */
#include "../torture.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

static void folders(char *path)
{
    for (char *at = path + 1; *at; at++)
        if (*at == '/') {
            *at = 0;
            CHECK(mkdir(path, 0755) == 0 || errno == EEXIST);
            *at = '/';
        }
}

int main(void)
{
    if (getuid() != 0)
        skip("only root may chroot");
    churn(100);
    char paths[8][600];
    int count = 0;
    const char *logs = getenv("MEMLOG_DIR");
    DIR *folder = logs ? opendir(logs) : NULL;
    for (struct dirent *entry; folder && count < 8 && (entry = readdir(folder));)
        if (strstr(entry->d_name, ".memlog"))
            snprintf(paths[count++], sizeof paths[0], "jail%.300s/%.200s", logs, entry->d_name);
    if (folder)
        closedir(folder);
    for (int i = 0; i < count; i++) {
        folders(paths[i]);
        int fd = open(paths[i], O_WRONLY | O_CREAT | O_EXCL, 0666);
        CHECK(fd >= 0 && write(fd, "precious", 8) == 8 && close(fd) == 0);
    }
    CHECK(mkdir("jail", 0755) == 0 || errno == EEXIST);
    int here = open(".", O_RDONLY);
    CHECK(here >= 0 && chroot("jail") == 0 && chdir("/") == 0);
    churn(60000);
    CHECK(fchdir(here) == 0 && chroot(".") == 0);
    for (int i = 0; i < count; i++) {
        struct stat about;
        CHECK(stat(paths[i], &about) == 0 && about.st_size == 8);
        CHECK(unlink(paths[i]) == 0);
        for (char *slash; (slash = strrchr(paths[i], '/'));) {
            *slash = 0;
            CHECK(rmdir(paths[i]) == 0 || errno == ENOTEMPTY || errno == ENOENT);
        }
    }
    CHECK(rmdir("jail") == 0 || errno == ENOENT);
    say("untouched\n");
    return 0;
}
