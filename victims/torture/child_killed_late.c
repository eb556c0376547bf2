/* A forked child that reallocates lives for some milliseconds, allocates on, and is killed.
 * Under memlog its log misses all that came after the deferred log was made a file, also mallocs and frees, with no loss
 * counted: look_at_clock() materializes amid a realloc, leave_private_chunk() does nothing while the release is announced, and
 * is_deferred() being false by then nobody asks again. With 40 rounds first 50 of 190 allocations are in the log. Seen first
 * in exec_script, which reallocated then, on a busy machine. */
#include "../torture.h"

int main(void)
{
    for (int rounds = 0; rounds < 64; rounds += 4) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            void *p = NULL;
            for (int i = 0; i < rounds; i++)
                p = keep(realloc(p, 100 + (size_t)i % 7));
            usleep(15000);
            for (int i = 0; i < 100; i++)
                p = keep(realloc(p, 100 + (size_t)i % 7));
            for (int i = 0; i < 50; i++)
                free(keep(malloc(10)));
            kill(getpid(), SIGKILL);
        }
        CHECK(status_of(child) == 1000 + SIGKILL);
    }
    say("killed late\n");
    return 0;
}
