/* A thread is stopped before and behind each call of the system, and another forks then: what the first was about has no
 * end in the child, and where something was unmapped other things lie there now.
 * @uncounted: the second recorder does not see such forks, and what it holds itself is torn by them */
#include "../torture.h"
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>

enum { FORKS = 300, MAPS = 8, PAGE = 4096 };

/* Of all processes: how many forks are wanted, and were made. */
static struct { volatile int wanted, made, is_enough; } *shared;

/* Waits until the word is another, but not for long: the other side may be gone. On a busy machine who spins keeps the other
 * from its turn. */
static void wait_while(volatile int *word, int value)
{
    struct timespec soon = {0, 20000000};
    syscall(SYS_futex, word, FUTEX_WAIT, value, &soon, NULL, 0);
}

static void change(volatile int *word, int value)
{
    *word = value;
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Whoever finds something wrong ends. Its parent sees that, and its child ends with it. */
static void end_with(pid_t parent)
{
    CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && getppid() == parent);
}

static void *allocates(void *nothing)
{
    CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
    CHECK(syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), SIGSTOP) == 0);
    for (int i = 0; i < 2000 && !shared->is_enough; i++)
        churn(1000);
    return nothing;
}

/* What a child maps stays as it is, whatever the recorder gives up when it begins. */
static void live(void)
{
    unsigned char *maps[MAPS];
    for (int i = 0; i < MAPS; i++) {
        size_t bytes = (size_t)PAGE << (i % 4 * 3);
        maps[i] = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(maps[i] != MAP_FAILED);
        maps[i][0] = maps[i][bytes - 1] = (unsigned char)(i + 1);
    }
    churn(20);
    for (int i = 0; i < MAPS; i++)
        CHECK(maps[i][0] == i + 1 && maps[i][((size_t)PAGE << (i % 4 * 3)) - 1] == i + 1);
}

/* fork() of a C library waits for locks of malloc, which the thread that is stopped may hold. */
static void fork_here(void)
{
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    CHECK(child >= 0);
    if (!child) {
        if (shared->made % 2)
            churn(1);
        live();
        _exit(7);
    }
    CHECK(status_of(child) == 7);
}

static int forks(void)
{
    churn(100);
    pthread_t thread = start_thread(allocates, NULL);
    while (!shared->is_enough) {
        int made = shared->made;
        if (made == shared->wanted) {
            wait_while(&shared->wanted, made);
            continue;
        }
        fork_here();
        change(&shared->made, made + 1);
    }
    join_thread(thread);
    return 5;
}

int main(void)
{
    int status = 0;
    pid_t own = getpid();
    shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        end_with(own);
        _exit(forks());
    }
    pid_t thread = waitpid(-1, &status, __WALL);
    CHECK(thread > 0);
    if (!WIFSTOPPED(status))
        skip("no thread can be traced here");
    CHECK(ptrace(PTRACE_SETOPTIONS, thread, NULL, (long)PTRACE_O_EXITKILL) == 0);
    while (shared->wanted < FORKS) {
        CHECK(ptrace(PTRACE_SYSCALL, thread, NULL, NULL) == 0);
        CHECK(waitpid(thread, &status, __WALL) == thread);
        if (!WIFSTOPPED(status))
            break;
        int made = shared->wanted;
        change(&shared->wanted, made + 1);
        while (shared->made == made && waitpid(-1, &status, __WALL | WNOHANG) == 0)
            wait_while(&shared->made, made);
        if (shared->made != shared->wanted)
            break;
    }
    shared->is_enough = 1;
    if (WIFSTOPPED(status))
        CHECK(ptrace(PTRACE_DETACH, thread, NULL, NULL) == 0);
    CHECK(status_of(child) == 5);
    say("a thread was seen amid its calls\n");
    return 0;
}
