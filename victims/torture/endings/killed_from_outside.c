/* Children are killed by their parent at a moment of their lives that nobody chose, and one is stopped and goes on.
 * Under memlog about one child in twenty leaves a file that `memlog stats` refuses (empty, or zeros): killed between the making
 * of the log and its first bytes (child::materialize), where it could have left none, or a whole one.
 *
 * @may lack: they are killed before they did much
 * @uncounted: the second recorder has no word for a call that never came to its end
 */
#include "../torture.h"

int main(void)
{
    for (int i = 0; i < 25; i++) {
        void *inherited = keep(malloc(100));
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            free(inherited);
            for (;;)
                churn(100);
        }
        usleep((useconds_t)(i * 211));
        if (i % 5 == 4) {
            int status;
            CHECK(kill(child, SIGSTOP) == 0 && waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
            churn(50);
            CHECK(kill(child, SIGCONT) == 0);
            usleep(500);
        }
        CHECK(kill(child, SIGKILL) == 0 && status_of(child) == 1000 + SIGKILL);
        free(inherited);
    }
    say("killed\n");
    return 0;
}
