/* A program of one thread forks in a timer's handler, wherever that interrupts the allocator or the recorder; the child returns
 * from the handler, goes on with what was interrupted, and allocates.
 *
 * @may lack: a child that was interrupted inside the recorder records nothing
 * @may lose: the call that was interrupted in the recorder, in the child
 * @uncounted: which calls those are is chance
 */
#include "../torture.h"
#include <sys/time.h>

static volatile sig_atomic_t children, is_child;
/* Once: one that came again by itself would starve the program where a child takes longer. */
static const struct itimerval soon = {{0, 0}, {0, 3000}};

static void on_timer(int number)
{
    (void)number;
    if (is_child)
        return;
    pid_t child = fork();
    CHECK(child >= 0);
    is_child = child == 0;
    if (child) {
        CHECK(status_of(child) == 8);
        children = children + 1;
        CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    }
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_timer};
    struct itimerval never = {{0, 0}, {0, 0}};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &soon, NULL) == 0);
    while (children < 40 && !is_child)
        churn(100);
    if (is_child) {
        churn(300);
        exit(8);
    }
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    say("forty children\n");
    return 0;
}
