/* A thread counts on the lowest free number, as only it opens files, while others allocate so that the log grows.
 *
 * FAILS: seldom, open returns the next number, as another thread has the log open to make it longer.
 */
#include "../torture/torture.h"
#include <fcntl.h>

static volatile int done;

static void *work(void *nothing)
{
    while (!done)
        churn(300);
    return nothing;
}

int main(void)
{
    int expected = open("/dev/null", O_RDONLY);
    CHECK(expected >= 0 && close(expected) == 0);
    pthread_t ids[2];
    for (int i = 0; i < 2; i++)
        ids[i] = start_thread(work, NULL);
    for (int i = 0; i < 30000; i++) {
        int fd = open("/dev/null", O_RDONLY);
        CHECK(fd == expected);
        CHECK(close(fd) == 0);
    }
    done = 1;
    for (int i = 0; i < 2; i++)
        join_thread(ids[i]);
    say("always the same\n");
    return 0;
}
