/* A process forks while its threads allocate: should the recorder have a descriptor open just then, the child has it for ever.
 *
 * FAILS: seldom, a child inherits the descriptor that another thread of the recorder's had open at the fork, for ever.
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
    for (int i = 0; i < 150; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            int fd = open("/dev/null", O_RDONLY);
            _exit(fd == expected ? 0 : 50 + fd);
        }
        CHECK(status_of(child) == 0);
    }
    done = 1;
    for (int i = 0; i < 2; i++)
        join_thread(ids[i]);
    say("nothing inherited\n");
    return 0;
}
