/* What stands in /proc/self/fd does not change by allocating, by threads, or over fork and exec.
 *
 * @may lack: a child execs
 */
#include "../torture.h"
#include <dirent.h>

static int count(void)
{
    int found = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        skip("no /proc/self/fd");
    while (readdir(folder))
        found++;
    closedir(folder);
    return found;
}

static void *work(void *nothing)
{
    churn(5000);
    return nothing;
}

int main(int argc, char **argv)
{
    int before = count();
    say("%d\n", before);
    churn(20000);
    CHECK(count() == before);
    pthread_t id = start_thread(work, NULL);
    join_thread(id);
    CHECK(count() == before);
    if (argc > 1)
        return before == atoi(argv[1]) ? 0 : 97;
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        CHECK(count() == before);
        churn(3000);
        CHECK(count() == before);
        char text[16];
        snprintf(text, sizeof text, "%d", before);
        execl("/proc/self/exe", "fd_count", text, NULL);
        _exit(96);
    }
    CHECK(status_of(child) == 0 && count() == before);
    return 0;
}
