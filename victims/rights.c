/* Rights that go, as a daemon gives them up: `rights WAY BLOCKS`. Each letter of WAY is a step:
 *   u  root becomes nobody            c  the folder this runs in becomes the root folder
 *   n  no more than three descriptors s  nobody by a bare call, of which no library is told
 *   l  files may be as long as one likes
 *   w  BLOCKS come and go             k  ends by SIGKILL
 *   p  three workers are forked that become nobody, at once or after their first block, and work
 *   o  one child is forked that works
 */
#define _GNU_SOURCE
#include "victim.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534 };
static long blocks;

SITE void work(void)
{
    for (long i = 0; i < blocks; i++)
        free(keep(malloc(16 + (size_t)i % 1000)));
}

static void become_nobody(void)
{
    if (setgid(NOBODY) || setuid(NOBODY))
        _exit(90);
}

static void wait_for_all(int children)
{
    for (int i = 0, status; i < children; i++)
        if (wait(&status) < 0 || status)
            _exit(91);
}

static void prefork(void)
{
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0) {
            if (i)
                free(keep(malloc(100)));
            become_nobody();
            work();
            exit(0);
        }
    }
    wait_for_all(3);
}

static void one_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        work();
        exit(0);
    }
    wait_for_all(1);
}

static void step(char how)
{
    const struct rlimit three = {3, 3}, any = {RLIM_INFINITY, RLIM_INFINITY};
    switch (how) {
    case 'u':
        return become_nobody();
    case 'c':
        if (chroot("."))
            _exit(92);
        return;
    case 'n':
        if (setrlimit(RLIMIT_NOFILE, &three))
            _exit(93);
        return;
    case 's':
        if (syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY))
            _exit(96);
        return;
    case 'l':
        if (setrlimit(RLIMIT_FSIZE, &any))
            _exit(97);
        return;
    case 'w':
        return work();
    case 'p':
        return prefork();
    case 'o':
        return one_child();
    case 'k':
        raise(SIGKILL);
    }
    _exit(94);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 95;
    blocks = atol(argv[2]);
    free(keep(malloc(100)));
    for (const char *way = argv[1]; *way; way++)
        step(*way);
    return 0;
}
