/* A timer's handler that allocates while main does: `signals [handled=500]`. Prints nothing, exits 0.
 *
 * glibc's malloc may not be entered by a handler that interrupted it. So main announces its own calls by a flag, and
 * the handler allocates (3 blocks, 1 of them freed by the next run) only when it did not interrupt one: main's
 * computing between two calls is where it lands. Ends after `handled` runs of the handler that did allocate; its
 * last blocks and main's last are left.
 */
#include "victim.h"
#include <signal.h>
#include <sys/time.h>

static volatile sig_atomic_t within, handled;
static volatile unsigned long work;
static void *mine[3];

SITE void handler_blocks(void)
{
    for (int i = 0; i < 3; i++) {
        free(mine[i]);
        mine[i] = touch(keep(malloc(111)), 111);
    }
}

static void on_timer(int signal)
{
    (void)signal;
    if (within)
        return;
    handler_blocks();
    handled = handled + 1;
}

SITE void *main_block(void *old)
{
    within = 1;
    free(old);
    void *p = keep(malloc(222));
    within = 0;
    return p;
}

int main(int argc, char **argv)
{
    long enough = number(argc, argv, 1, 500);
    struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 200}, {0, 200}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    void *p = NULL;
    while (handled < enough) {
        p = main_block(p);
        for (int i = 0; i < 200; i++)
            work += i;
    }
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    return 0;
}
