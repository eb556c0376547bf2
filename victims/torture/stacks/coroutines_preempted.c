/* Coroutines are preempted: a timer's handler switches to the next one by swapcontext, so that signal frames of all of them are
 * open at once on their stacks. They allocate with the signal blocked. */
#include "../torture.h"
#include <sys/time.h>
#include <ucontext.h>

enum { ROUTINES = 4, SIZE = 64 * 1024, SWITCHES = 200 };
static ucontext_t scheduler, routines[ROUTINES];
static char stacks[ROUTINES][SIZE];
static volatile int current, switches, turns[ROUTINES], is_armed;
static volatile unsigned long work;

static void on_timer(int number)
{
    (void)number;
    int old = current;
    is_armed = 0;
    switches = switches + 1;
    free(keep(malloc(90)));
    if (switches >= SWITCHES) {
        swapcontext(&routines[old], &scheduler);
    } else {
        current = (old + 1) % ROUTINES;
        swapcontext(&routines[old], &routines[current]);
    }
}

/* Once, and not again before the handler has run: one that comes amid a switch finds neither the old nor the new, and on a busy
 * machine the next of an interval does. */
static void arm(void)
{
    static const struct itimerval soon = {{0, 0}, {0, 500}};
    if (is_armed)
        return;
    is_armed = 1;
    CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
}

static void routine(int who)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    for (;;) {
        sigprocmask(SIG_BLOCK, &set, NULL);
        churn(20);
        turns[who] = turns[who] + 1;
        arm();
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        for (int i = 0; i < 20000; i++)
            work += 1;
    }
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_timer};
    for (volatile int i = 0; i < ROUTINES; i++) {
        CHECK(getcontext(&routines[i]) == 0);
        routines[i].uc_stack.ss_sp = stacks[i];
        routines[i].uc_stack.ss_size = SIZE;
        makecontext(&routines[i], (void (*)(void))routine, 1, i);
    }
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    CHECK(swapcontext(&scheduler, &routines[0]) == 0);
    for (int i = 0; i < ROUTINES; i++)
        CHECK(turns[i] > 0);
    say("%d switches\n", switches);
    return 0;
}
