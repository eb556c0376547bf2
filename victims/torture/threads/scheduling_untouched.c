/* Affinity, policy, priority, niceness, names, number of threads and the main thread's number are what the program set or what
 * they were, after much was allocated. */
#include "../torture.h"
#include <dirent.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static int thread_count(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    CHECK(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static void *thread(void *set)
{
    cpu_set_t now;
    char name[16];
    struct sched_param none = {0};
    CHECK(pthread_setname_np(pthread_self(), "some name") == 0);
    CHECK(sched_setscheduler(0, SCHED_BATCH, &none) == 0);
    CHECK(setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 7) == 0);
    churn(30000);
    CHECK(thread_count() == 2);
    CHECK(pthread_getname_np(pthread_self(), name, sizeof name) == 0 && strcmp(name, "some name") == 0);
    CHECK(sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, (cpu_set_t *)set));
    CHECK(sched_getscheduler(0) == SCHED_BATCH);
    CHECK(getpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid)) == 7);
    return NULL;
}

int main(int argc, char **argv)
{
    cpu_set_t before, one, now;
    char name[16];
    const char *slash = strrchr(argv[0], '/');
    int policy = sched_getscheduler(0), nice = getpriority(PRIO_PROCESS, 0);
    (void)argc;
    CHECK(syscall(SYS_gettid) == getpid() && thread_count() == 1);
    CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
    churn(30000);
    CHECK(pthread_getname_np(pthread_self(), name, sizeof name) == 0);
    CHECK(strncmp(name, slash ? slash + 1 : argv[0], 15) == 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &before))
            CPU_SET(i, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    join_thread(start_thread(thread, &one));
    CHECK(sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &one));
    CHECK(sched_getscheduler(0) == policy && getpriority(PRIO_PROCESS, 0) == nice);
    CHECK(thread_count() == 1 && syscall(SYS_gettid) == getpid());
    say("as it was set\n");
    return 0;
}
