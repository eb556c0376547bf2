/* A forked child that reallocates lives for some milliseconds, allocates on, and is killed. Its log becomes a file amid a
 * realloc, when the private chunk that holds the first half cannot be left yet: who never leaves it writes all that comes
 * after to memory that dies with the child. The first child does too little to have a log by then.
 *
 * @may lack: see above
 */
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
