/* A handler that leaves by siglongjmp: `siglongjmp [jumps=500]`. Prints nothing, exits 0.
 *
 * main sets a jump, goes down a stack of changing depth that allocates and frees on its way, then computes; the
 * timer's handler allocates a block and jumps back over all those frames, but only from outside malloc (flag). What the
 * abandoned frames held is kept in a list and freed at the end: after `jumps` jumps nothing is live.
 */
#include "victim.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

static sigjmp_buf back;
static volatile sig_atomic_t jumpable, jumps;
static volatile unsigned long work;
struct node {
    struct node *next;
    char rest[100];
};
static struct node *volatile held;

SITE void hold(void)
{
    struct node *n = keep(malloc(sizeof *n));
    n->next = held;
    held = n;
}

SITE void let_go(void)
{
    while (held) {
        struct node *n = held;
        held = n->next;
        free(n);
    }
}

static void on_timer(int signal)
{
    (void)signal;
    if (!jumpable)
        return;
    jumpable = 0;
    hold();
    jumps = jumps + 1;
    siglongjmp(back, 1);
}

SITE void dive(int depth)
{
    volatile char frame[64] = {1};
    hold();
    free(keep(malloc(33)));
    if (depth > 0) {
        dive(depth - 1);
        work += frame[0];
        return;
    }
    for (jumpable = 1; jumpable < 2;) /* for ever */
        work += frame[0];
}

int main(int argc, char **argv)
{
    static long enough;
    enough = number(argc, argv, 1, 500);
    struct sigaction action = {.sa_handler = on_timer};
    struct itimerval often = {{0, 200}, {0, 200}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    sigsetjmp(back, 1);
    if (jumps % 16 == 15)
        let_go();
    if (jumps < enough)
        dive(jumps % 40);
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    let_go();
    return 0;
}
