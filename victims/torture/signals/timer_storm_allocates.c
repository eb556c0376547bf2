/* A timer's handler allocates, frees and is interrupted by a second timer's, while main only computes. On the alternate stack
 * for the first, on the normal one for the second.
 */
#include "../torture.h"
#include <time.h>

static volatile sig_atomic_t inside, alarms, users;
static volatile unsigned long work;

static void on_alarm(int number)
{
    (void)number;
    inside = 1;
    churn(20);
    inside = 0;
    alarms = alarms + 1;
}

static void on_user(int number)
{
    (void)number;
    if (inside)
        return;
    free(keep(malloc(600)));
    users = users + 1;
}

static timer_t start(int number, long nanoseconds)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
    struct itimerspec often = {{0, nanoseconds}, {0, nanoseconds}};
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    CHECK(timer_settime(timer, 0, &often, NULL) == 0);
    return timer;
}

int main(void)
{
    stack_t stack = {.ss_sp = keep(malloc(65536)), .ss_size = 65536};
    struct sigaction alarm = {.sa_handler = on_alarm, .sa_flags = SA_ONSTACK};
    struct sigaction user = {.sa_handler = on_user};
    sigaddset(&user.sa_mask, SIGALRM);
    CHECK(sigaltstack(&stack, NULL) == 0);
    CHECK(sigaction(SIGALRM, &alarm, NULL) == 0 && sigaction(SIGUSR1, &user, NULL) == 0);
    timer_t first = start(SIGALRM, 200000), second = start(SIGUSR1, 130000);
    while (alarms < 300 || users < 300)
        work += 1;
    CHECK(timer_delete(first) == 0 && timer_delete(second) == 0);
    say("stormy\n");
    return 0;
}
