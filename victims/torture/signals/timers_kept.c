/* Alarms and interval timers belong to the program, and nobody else arms one. */
#include "../torture.h"
#include <sys/time.h>

static volatile sig_atomic_t rings[3];

static void ring(int number)
{
    rings[number == SIGALRM ? 0 : number == SIGVTALRM ? 1 : 2]++;
}

int main(void)
{
    struct itimerval timer, none = {{0, 0}, {0, 0}};
    static const int signals[] = {SIGALRM, SIGVTALRM, SIGPROF};
    for (int which = 0; which < 3; which++) {
        CHECK(signal(signals[which], ring) == SIG_DFL);
        CHECK(getitimer(which, &timer) == 0 && !timer.it_value.tv_sec && !timer.it_value.tv_usec);
    }
    churn(20000);
    for (int which = 0; which < 3; which++)
        CHECK(getitimer(which, &timer) == 0 && !timer.it_value.tv_sec && !timer.it_value.tv_usec);
    alarm(1000);
    churn(5000);
    CHECK(alarm(0) > 990 && rings[0] == 0);
    timer = (struct itimerval){{0, 0}, {0, 20000}};
    for (int which = 0; which < 3; which++) {
        CHECK(setitimer(which, &timer, NULL) == 0);
        while (!rings[which])
            churn(50);
        CHECK(setitimer(which, &none, NULL) == 0);
    }
    say("%d %d %d\n", (int)rings[0], (int)rings[1], (int)rings[2]);
    return 0;
}
