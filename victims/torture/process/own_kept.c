/* What a process has of its own beside memory and files is as the program left it: niceness, scheduling, the processors it may
 * use, its name, its parent's death signal, its timers' slack, its personality, blocked signals.
 */
#include "../torture.h"
#include <sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static void *work(void *nothing)
{
    churn(3000);
    return nothing;
}

static void check(void)
{
    char name[17] = "";
    int signal_of_death = 0;
    cpu_set_t cpus;
    sigset_t blocked;
    struct sched_param param;
    CHECK(getpriority(PRIO_PROCESS, 0) == 7);
    CHECK(syscall(SYS_ioprio_get, 1, 0) == (2 << 13 | 6));
    CHECK(sched_getscheduler(0) == SCHED_BATCH && sched_getparam(0, &param) == 0 && param.sched_priority == 0);
    CHECK(sched_getaffinity(0, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) == 1);
    CHECK(prctl(PR_GET_NAME, name, 0, 0, 0) == 0 && !strcmp(name, "odd \n name"));
    CHECK(prctl(PR_GET_PDEATHSIG, &signal_of_death, 0, 0, 0) == 0 && signal_of_death == SIGUSR1);
    CHECK(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0) == 123456);
    CHECK(personality(0xffffffff) == (PER_LINUX | UNAME26));
    CHECK(sigprocmask(SIG_SETMASK, NULL, &blocked) == 0);
    for (int number = 1; number < 32; number++)
        CHECK(sigismember(&blocked, number) == (number == SIGUSR2));
}

int main(void)
{
    cpu_set_t cpus, one;
    sigset_t block;
    CHECK(sched_getaffinity(0, sizeof cpus, &cpus) == 0);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
        if (CPU_ISSET(cpu, &cpus))
            CPU_SET(cpu, &one);
    struct sched_param param = {0};
    if (getpriority(PRIO_PROCESS, 0) > 7)
        skip("too nice already");
    CHECK(setpriority(PRIO_PROCESS, 0, 7) == 0 && sched_setscheduler(0, SCHED_BATCH, &param) == 0);
    CHECK(syscall(SYS_ioprio_set, 1, 0, 2 << 13 | 6) == 0);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(prctl(PR_SET_NAME, "odd \n name", 0, 0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGUSR1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_TIMERSLACK, 123456, 0, 0, 0) == 0 && personality(PER_LINUX | UNAME26) != -1);
    sigemptyset(&block);
    sigaddset(&block, SIGUSR2);
    CHECK(sigprocmask(SIG_SETMASK, &block, NULL) == 0);
    churn(30000);
    check();
    join_thread(start_thread(work, NULL));
    check();
    say("as it was\n");
    return 0;
}
