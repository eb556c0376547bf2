/* Threads and a process end while they hold robust mutexes; the next owner is told, frees what they left and makes the mutex
 * whole. The lists of them that the kernel has for each thread must be left alone. */
#include "../torture.h"
#include <sys/mman.h>

static pthread_mutex_t *mutex;
static void *left;

static void *ends(void *unused)
{
    (void)unused;
    CHECK(pthread_mutex_lock(mutex) == 0);
    left = keep(malloc(700));
    churn(50);
    return NULL;
}

static void recover(void)
{
    CHECK(pthread_mutex_lock(mutex) == EOWNERDEAD);
    free(left);
    left = NULL;
    churn(50);
    CHECK(pthread_mutex_consistent(mutex) == 0 && pthread_mutex_unlock(mutex) == 0);
}

int main(void)
{
    pthread_mutexattr_t attr;
    mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(mutex != MAP_FAILED && pthread_mutexattr_init(&attr) == 0);
    CHECK(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) == 0);
    CHECK(pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_mutex_init(mutex, &attr) == 0);
    for (int i = 0; i < 10; i++) {
        join_thread(start_thread(ends, NULL));
        recover();
    }
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        ends(NULL);
        _exit(4);
    }
    CHECK(status_of(child) == 4);
    recover();
    say("made whole\n");
    return 0;
}
