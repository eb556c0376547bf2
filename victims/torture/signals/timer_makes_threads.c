/* A timer's notice comes as a thread that libc makes for each, with a stack of 16 KiB, all signals blocked, and no one to join it. */
#include "../torture.h"
#include <limits.h>
#include <time.h>

static int notices;

static void notice(union sigval value)
{
    free(keep(malloc((size_t)value.sival_int)));
    churn(50);
    __atomic_add_fetch(&notices, 1, __ATOMIC_RELEASE);
}

int main(void)
{
    timer_t timer;
    pthread_attr_t attr;
    CHECK(pthread_attr_init(&attr) == 0);
    CHECK(pthread_attr_setstacksize(&attr, (size_t)sysconf(_SC_THREAD_STACK_MIN)) == 0);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_value.sival_int = 55};
    struct itimerspec often = {{0, 1000000}, {0, 1000000}};
    event.sigev_notify_function = notice;
    event.sigev_notify_attributes = &attr;
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &often, NULL) == 0);
    while (__atomic_load_n(&notices, __ATOMIC_ACQUIRE) < 100)
        churn(20);
    CHECK(timer_delete(timer) == 0);
    /* Besides main the one in which libc waits for timers. */
    wait_for_threads(2);
    say("a hundred notices\n");
    return 0;
}
