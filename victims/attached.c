/* A program that is attached to while it runs, in one of several ways of living.
 *
 *   attached WAY [ARGUMENT]
 *
 * It prints "ready", and ends when a line comes on stdin. It aborts if a system call of
 * its own comes back with EINTR, if a block has not the content that it was given, or if
 * its clock goes back. On a line "count" it allocates exactly 1,000 blocks of 1,000 bytes
 * in `counted`, keeps every second one, and prints "counted". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>

static atomic_int is_over, is_filtered, stuck_in = -1;
static void *(*volatile asked_for)(size_t);
static atomic_ulong turns;

static void wrong(const char *what)
{
    fprintf(stderr, "wrong: %s (errno %d)\n", what, errno);
    abort();
}

/* Blocks that come and go; each has its address in it. */
static void *churn(void *seed)
{
    enum { COUNT = 64 };
    void **blocks[COUNT] = {0};
    unsigned state = (unsigned)(size_t)seed * 2654435761u + 1;
    while (!is_over) {
        state = state * 1103515245 + 12345;
        unsigned at = state >> 16 & (COUNT - 1);
        if (blocks[at] && *blocks[at] != blocks[at])
            wrong("a block");
        size_t size = (state >> 8) % 2000 + sizeof(void *);
        switch (state >> 28) {
        case 0: case 1: case 2:
            blocks[at] = realloc(blocks[at], size);
            break;
        case 3:
            free(blocks[at]);
            blocks[at] = calloc(1, size);
            break;
        default:
            free(blocks[at]);
            blocks[at] = malloc(size);
        }
        if (!blocks[at])
            wrong("no memory");
        *blocks[at] = blocks[at];
        turns++;
    }
    for (int at = 0; at < COUNT; at++)
        free(blocks[at]);
    return NULL;
}

/* Threads that live for a few blocks, on stacks that others had before them. */
static void *brief(void *seed)
{
    void *blocks[8];
    for (int at = 0; at < 8; at++)
        blocks[at] = malloc(100 + (size_t)seed % 1000);
    for (int at = 0; at < 8; at++)
        free(blocks[at]);
    turns++;
    return NULL;
}

static void *breed(void *seed)
{
    for (size_t number = (size_t)seed; !is_over; number++) {
        pthread_t threads[4];
        for (int at = 0; at < 4; at++)
            if (pthread_create(&threads[at], NULL, brief, (void *)number))
                wrong("no thread");
        for (int at = 0; at < 4; at++)
            pthread_join(threads[at], NULL);
    }
    return NULL;
}

/* A handler that runs nearly all the time, and allocates; the program below it does not. */
static void handler(int number)
{
    int kept = errno;
    for (int at = 0; at < 200; at++)
        free(malloc((size_t)number * 10 + at));
    turns++;
    errno = kept;
}

static void *signals(void *nothing)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval often = {{0, 200}, {0, 200}};
    setitimer(ITIMER_REAL, &often, NULL);
    volatile unsigned long sum = 0;
    while (!is_over)
        sum++;
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    return nothing;
}

static const char *plugin;

static void *loads(void *nothing)
{
    while (!is_over) {
        void *handle = dlopen(plugin, RTLD_LAZY);
        if (!handle)
            wrong(dlerror());
        void *(*work)(size_t) = (void *(*)(size_t))dlsym(handle, "plugin_work");
        if (!work)
            wrong(dlerror());
        free(work(100));
        dlclose(handle);
        turns++;
    }
    return nothing;
}

/* Each waits in a system call of its own. What comes back is a time out, or an answer. */
static void *naps(void *nothing)
{
    while (!is_over) {
        struct timespec nap = {0, 30000000};
        if (nanosleep(&nap, NULL))
            wrong("nanosleep");
        nap.tv_nsec = 30000000;
        if (clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL))
            wrong("clock_nanosleep");
        turns++;
    }
    return nothing;
}

static void *polls(void *nothing)
{
    int both[2];
    if (pipe(both))
        wrong("pipe");
    struct pollfd one = {both[0], POLLIN, 0};
    sigset_t none;
    sigemptyset(&none);
    while (!is_over) {
        if (poll(&one, 1, 30))
            wrong("poll");
        struct timespec nap = {0, 30000000};
        if (ppoll(&one, 1, &nap, &none))
            wrong("ppoll");
        struct timeval time = {0, 30000};
        fd_set set;
        FD_ZERO(&set);
        FD_SET(both[0], &set);
        if (select(both[0] + 1, &set, NULL, NULL, &time))
            wrong("select");
        turns++;
    }
    return nothing;
}

static void *epolls(void *nothing)
{
    int both[2], queue = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    if (pipe(both) || epoll_ctl(queue, EPOLL_CTL_ADD, both[0], &event))
        wrong("epoll_ctl");
    sigset_t none;
    sigemptyset(&none);
    while (!is_over) {
        if (epoll_wait(queue, &event, 1, 30))
            wrong("epoll_wait");
        if (epoll_pwait(queue, &event, 1, 30, &none))
            wrong("epoll_pwait");
        turns++;
    }
    return nothing;
}

static void *reads(void *nothing)
{
    int both[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, both))
        wrong("socketpair");
    struct timeval time = {0, 30000};
    setsockopt(both[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    while (!is_over) {
        char byte;
        if (read(both[0], &byte, 1) != -1 || errno != EAGAIN)
            wrong("read");
        if (recv(both[0], &byte, 1, 0) != -1 || errno != EAGAIN)
            wrong("recv");
        turns++;
    }
    return nothing;
}

static void *waits(void *nothing)
{
    static int word;
    int set = semget(IPC_PRIVATE, 1, 0600);
    sigset_t usr2;
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &usr2, NULL);
    while (!is_over) {
        struct timespec nap = {0, 30000000};
        if (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &nap, NULL, 0) != -1 || errno != ETIMEDOUT)
            wrong("futex");
        nap.tv_nsec = 30000000;
        if (sigtimedwait(&usr2, NULL, &nap) != -1 || errno != EAGAIN)
            wrong("sigtimedwait");
        struct sembuf one = {0, -1, 0};
        nap.tv_nsec = 30000000;
        if (set >= 0 && (semtimedop(set, &one, 1, &nap) != -1 || errno != EAGAIN))
            wrong("semtimedop");
        turns++;
    }
    semctl(set, 0, IPC_RMID);
    return nothing;
}

/* A pipe that another thread feeds: no byte gets lost or comes twice. */
static int ends[2];

static void *feeds(void *nothing)
{
    for (unsigned number = 0; !is_over; number++)
        if (write(ends[1], &number, sizeof number) != sizeof number)
            wrong("write");
    close(ends[1]);
    return nothing;
}

static void *eats(void *nothing)
{
    unsigned number = 0, got;
    ssize_t length;
    while ((length = read(ends[0], &got, sizeof got)) == sizeof got) {
        if (got != number++)
            wrong("a byte of the pipe");
        turns++;
    }
    if (length)
        wrong("read");
    return nothing;
}

static void *clocks(void *nothing)
{
    struct timespec last = {0, 0}, now;
    while (!is_over) {
        if (clock_gettime(CLOCK_MONOTONIC, &now))
            wrong("clock_gettime");
        if (now.tv_sec < last.tv_sec || (now.tv_sec == last.tv_sec && now.tv_nsec < last.tv_nsec))
            wrong("the clock");
        last = now;
        turns++;
    }
    return nothing;
}

/* Numbers in registers of all kinds, which a stop must leave as they are. */
static void *computes(void *nothing)
{
    while (!is_over) {
        double sum = 0;
        long whole = 0;
        for (int at = 1; at < 20000; at++) {
            sum += 1.0 / at;
            whole = whole * 31 + at;
        }
        static atomic_long first_whole;
        static _Atomic double first_sum;
        if (!first_whole) {
            first_sum = sum;
            first_whole = whole;
        }
        if (first_whole != whole || (first_sum != 0 && first_sum != sum))
            wrong("a sum");
        turns++;
    }
    return nothing;
}

static void *forks(void *nothing)
{
    while (!is_over) {
        pid_t child = fork();
        if (child == 0) {
            free(malloc(100));
            _exit(7);
        }
        int status;
        pid_t got = waitpid(child, &status, 0);
        if (got != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
            wrong("a child");
        child = vfork();
        if (child == 0)
            _exit(8);
        if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 8)
            wrong("a vfork's child");
        turns++;
    }
    return nothing;
}

static void *sleeps(void *nothing)
{
    while (!is_over)
        pause();
    return nothing;
}

#include "attached_odd.h"

static const struct { const char *name; void *(*body)(void *); int threads; } ways[] = {
    {"idle", sleeps, 0}, {"churn", churn, 1}, {"threads", churn, 8}, {"breed", breed, 2},
    {"signals", signals, 1}, {"loads", loads, 2}, {"naps", naps, 1}, {"polls", polls, 1},
    {"epolls", epolls, 1}, {"reads", reads, 1}, {"waits", waits, 1}, {"clocks", clocks, 1},
    {"computes", computes, 2}, {"forks", forks, 1}, {"eats", eats, 1},
};

/* What is not for the way of all. */
static const struct { const char *name; void *(*body)(void *); } odd_ways[] = {
    {"filtered", filtered}, {"stuck", stuck}, {"stuck", takes}, {"clones", clones}, {"asks", asks},
};

static void *volatile kept[500];

__attribute__((noinline)) static void counted(void)
{
    for (int at = 0; at < 1000; at++) {
        void *volatile block = malloc(1000);
        if (at % 2)
            kept[at / 2] = block;
        else
            free(block);
    }
    printf("counted\n");
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    plugin = argc > 2 ? argv[2] : NULL;
    void *old[100];
    for (int at = 0; at < 100; at++)
        old[at] = malloc(3000);
    pthread_t threads[32];
    int count = 0;
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        if (strcmp(argv[1], ways[way].name) && strcmp(argv[1], "all"))
            continue;
        if (ways[way].body == loads && !plugin)
            continue;
        /* Its signals would end the naps of others. */
        if (ways[way].body == signals && !strcmp(argv[1], "all"))
            continue;
        if (ways[way].body == eats) {
            if (pipe(ends) || pthread_create(&threads[count++], NULL, feeds, NULL))
                wrong("pipe");
        }
        for (int number = 0; number < ways[way].threads; number++)
            if (pthread_create(&threads[count++], NULL, ways[way].body, (void *)(size_t)(number + 1)))
                wrong("no thread");
    }
    asked_for = (void *(*)(size_t))dlsym(RTLD_DEFAULT, "malloc");
    for (size_t way = 0; way < sizeof odd_ways / sizeof *odd_ways; way++)
        if (!strcmp(argv[1], odd_ways[way].name) && pthread_create(&threads[count++], NULL, odd_ways[way].body, NULL))
            wrong("no thread");
    while (!strcmp(argv[1], "filtered") && !is_filtered)
        usleep(1000);
    struct link_map *last = _r_debug.r_map;
    while (last->l_next)
        last = last->l_next;
    /* A list of libraries that has no end. */
    if (!strcmp(argv[1], "ring"))
        last->l_next = _r_debug.r_map;
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("ready\n");
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        if (!strcmp(line, "count\n"))
            counted();
        else if (!strcmp(line, "free\n"))
            for (int at = 0; at < 100; at++) {
                free(old[at]);
                old[at] = NULL;
                if (at == 99)
                    printf("freed\n");
            }
        else if (!strcmp(line, "heirs\n"))
            heirs();
        else if (!strcmp(line, "turns\n"))
            printf("%lu\n", (unsigned long)turns);
        else
            break;
    }
    is_over = 1;
    if (!strcmp(argv[1], "ring"))
        last->l_next = NULL;
    for (int at = 0; at < count; at++)
        pthread_join(threads[at], NULL);
    printf("over after %lu turns\n", (unsigned long)turns);
    return 0;
}
