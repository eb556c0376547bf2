/* All signals are blocked; one thread takes them by sigwaitinfo, another by a signalfd, and both allocate for each. None may be
 * taken by anyone else, none may come twice. */
#include "../torture.h"
#include <sys/signalfd.h>

enum { EACH = 300 };
static sigset_t waited, read_set;
static int sum;

static void *waits(void *unused)
{
    (void)unused;
    for (int i = 0; i < EACH; i++) {
        siginfo_t info;
        CHECK(sigwaitinfo(&waited, &info) == SIGRTMIN);
        int *p = info.si_value.sival_ptr;
        __atomic_add_fetch(&sum, *p, __ATOMIC_RELAXED);
        free(p);
    }
    return NULL;
}

static void *reads(void *unused)
{
    (void)unused;
    int fd = signalfd(-1, &read_set, SFD_CLOEXEC);
    CHECK(fd >= 0);
    for (int i = 0; i < EACH; i++) {
        struct signalfd_siginfo info;
        CHECK(read(fd, &info, sizeof info) == sizeof info);
        int *p = (int *)(uintptr_t)info.ssi_ptr;
        __atomic_add_fetch(&sum, *p, __ATOMIC_RELAXED);
        free(p);
    }
    close(fd);
    return NULL;
}

int main(void)
{
    sigset_t all;
    sigfillset(&all);
    sigaddset(&waited, SIGRTMIN);
    sigaddset(&read_set, SIGRTMIN + 1);
    CHECK(pthread_sigmask(SIG_BLOCK, &all, NULL) == 0);
    pthread_t a = start_thread(waits, NULL), b = start_thread(reads, NULL);
    for (int i = 0; i < 2 * EACH; i++) {
        union sigval value = {.sival_ptr = keep(malloc(sizeof(int)))};
        *(int *)value.sival_ptr = 1;
        while (sigqueue(getpid(), SIGRTMIN + i % 2, value) != 0)
            CHECK(errno == EAGAIN);
    }
    join_thread(a);
    join_thread(b);
    CHECK(sum == 2 * EACH);
    say("%d signals taken\n", sum);
    return 0;
}
