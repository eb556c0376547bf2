/* A timer's handler ends the process by _exit wherever it is: inside malloc, and inside the recorder too.
 *
 * @may lack: a child that is ended before it did much
 * @uncounted: the second recorder has no word for a call that never came to its end
 */
#include "../torture.h"
#include <sys/time.h>

static int status;

static void on_tick(int signal)
{
    (void)signal;
    _exit(status);
}

int main(void)
{
    signal(SIGALRM, on_tick);
    for (int i = 0; i < 25; i++) {
        status = i;
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            struct itimerval soon = {{0, 0}, {0, 1000 + i * 137}};
            CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
            for (;;)
                churn(100);
        }
        CHECK(status_of(child) == i);
    }
    say("ended by the clock\n");
    return 0;
}
