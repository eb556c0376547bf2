/* A program watches its own folder: nothing happens there but what it does itself, also while it forks and starts threads. */
#include "../torture.h"
#include <fcntl.h>
#include <sys/inotify.h>

static void *work(void *nothing)
{
    churn(5000);
    return nothing;
}

int main(void)
{
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0)
        skip("no inotify: %s", strerror(errno));
    CHECK(inotify_add_watch(fd, ".", IN_ALL_EVENTS) == 1);
    churn(30000);
    join_thread(start_thread(work, NULL));
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        churn(5000);
        exit(0);
    }
    CHECK(status_of(child) == 0);
    char events[4096];
    CHECK(read(fd, events, sizeof events) == -1 && errno == EAGAIN);
    say("quiet\n");
    return 0;
}
