/* A timer's handler forks wherever the program happens to be, inside malloc and inside the recorder too. The children do
 * only what is allowed there: half of them end, half of them exec.
 *
 * @may lack: they end at once, or exec
 */
#include "../torture.h"
#include <sys/time.h>

static char *const again[] = {(char *)"fork_in_timer_handler", (char *)"child", NULL};
static volatile int ticks, wrong;

static void on_tick(int signal)
{
    (void)signal;
    int saved = errno, status = 0, own = ticks + 1;
    pid_t child = _Fork();
    if (!child) {
        if (own % 2)
            execve("/proc/self/exe", again, environ);
        _exit(33);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 33)
        wrong++;
    ticks = own;
    errno = saved;
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        churn(100);
        return 33;
    }
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
    while (ticks < 40)
        churn(100);
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0 && wrong == 0);
    say("the timer forked\n");
    return 0;
}
