/* A heap of 48 MiB beside a seccomp filter: `filtered HOW [BEFORE]` makes BEFORE MiB of it before HOW, the rest after.
 *
 *   plain    nothing
 *   privs    no new privileges, the herald of a filter that never comes
 *   probe    filters that are refused
 *   filter   a filter that kills for opening files
 *   bare     the same, by libc's syscall
 *
 * Prints the kernel's VmHWM in kilobytes where it can still be read.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "victim.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BLOCKS = 48, BLOCK = 1 << 20 };
static void *blocks[BLOCKS];

/* A pause now and then: readings are taken by time as well. */
static SITE void grow(int from, int to)
{
    for (int i = from; i < to; i++) {
        blocks[i] = touch(keep(malloc(BLOCK)), BLOCK);
        struct timespec pause = {0, 2000000};
        nanosleep(&pause, NULL);
    }
}

static int set_filter(int is_bare)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return is_bare ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
                   : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* By one block of the C library's at most. */
static void print_high_water(void)
{
    static char text[8192];
    FILE *file = fopen("/proc/self/status", "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = 0;
    const char *line = strstr(text, "VmHWM:");
    printf("%ld\n", line ? atol(line + 6) : 0);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "plain";
    int before = (int)number(argc, argv, 2, 0);
    int is_bare = !strcmp(how, "bare"), is_filtered = is_bare || !strcmp(how, "filter");
    grow(0, before);
    if (!strcmp(how, "privs") && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return 1;
    if (!strcmp(how, "probe"))
        for (int i = 0; i < 3; i++)
            if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) == 0
                || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) == 0)
                return 1;
    if (is_filtered && set_filter(is_bare) != 0)
        return 77;
    grow(before, BLOCKS);
    if (!is_filtered)
        print_high_water();
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    for (int i = 0; i < 1000; i++)
        free(keep(malloc(100)));
    return 0;
}
