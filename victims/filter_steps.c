/* A seccomp filter amid the work: `filter_steps WAY BLOCKS [FILE]`. Each letter of WAY is a step:
 *   h  no new privileges, the herald of a filter     f  a filter by libc
 *   b  a filter by instructions of the program's own, of which no library is told
 *   s  a thread begins and does little               t  it works: BLOCKS come and go
 *   w  BLOCKS come and go                            d  FILE grows until its disk is full
 *   l  files may be 0 bytes long, and none opened
 *   a  one block comes and goes                      c  a child is forked that goes on alone
 * The filter kills for all that a log could grow by. Ends with 77 where there are no filters, or no such instructions.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "victim.h"
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#define KILL(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static long blocks;
static pthread_t thread;
static pthread_barrier_t begun, goes_on;

SITE void work(void)
{
    for (long i = 0; i < blocks; i++)
        free(keep(malloc(16 + (size_t)i % 1000)));
}

static void *begin(void *nothing)
{
    free(keep(malloc(100)));
    pthread_barrier_wait(&begun);
    pthread_barrier_wait(&goes_on);
    work();
    return nothing;
}

static long bare(long number, long a, long b, long c)
{
#if defined __x86_64__
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
#elif defined __aarch64__
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
#else
    (void)number, (void)a, (void)b, (void)c;
    return -1;
#endif
}

/* For each thread there is. */
static void set_filter(int is_bare)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        KILL(openat), KILL(ftruncate), KILL(fallocate), KILL(pwrite64), KILL(mremap), KILL(process_vm_readv),
        /* To ask for a file's room; what a thread's end asks for is another advice. */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_POPULATE_WRITE, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    long flags = SECCOMP_FILTER_FLAG_TSYNC;
    long result = is_bare ? bare(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, (long)&program)
                          : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    if (result != 0)
        _exit(77);
}

static void fill(int file)
{
    static char zeros[1 << 16];
    for (size_t bytes = sizeof zeros; bytes; bytes /= 2)
        while (write(file, zeros, bytes) > 0)
            ;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 95;
    blocks = atol(argv[2]);
    int file = argc > 3 ? open(argv[3], O_WRONLY | O_CREAT, 0600) : -1;
    pthread_barrier_init(&begun, NULL, 2);
    pthread_barrier_init(&goes_on, NULL, 2);
    for (const char *way = argv[1]; *way; way++)
        switch (*way) {
        case 'h':
            if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
                return 77;
            break;
        case 'l': {
            const struct rlimit none = {0, 0}, one = {1, 1};
            if (setrlimit(RLIMIT_FSIZE, &none) || setrlimit(RLIMIT_NOFILE, &one))
                return 90;
            break;
        }
        case 'f':
        case 'b':
            set_filter(*way == 'b');
            break;
        case 's':
            if (pthread_create(&thread, NULL, begin, NULL) != 0)
                return 94;
            pthread_barrier_wait(&begun);
            break;
        case 't':
            pthread_barrier_wait(&goes_on);
            pthread_join(thread, NULL);
            break;
        case 'w':
            work();
            break;
        case 'd':
            fill(file);
            break;
        case 'a':
            free(keep(malloc(100)));
            break;
        case 'c': {
            pid_t child = fork();
            int status = 0;
            if (child < 0 || (child > 0 && waitpid(child, &status, 0) < 0))
                return 92;
            if (child > 0)
                return WIFEXITED(status) ? WEXITSTATUS(status) : 91;
            break;
        }
        default:
            return 93;
        }
    return 0;
}
