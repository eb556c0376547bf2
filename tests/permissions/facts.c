/* Says what a recorder could have changed about its own process: `facts BLOCKS [wait] [WORDS]`. Native and recorded the
 * output is the same to the byte.
 *
 * Facts are told before the first allocation, after it, and after BLOCKS more, of which some come from deep stacks and so
 * make the log grow; with `wait` it says `half` before those and reads a byte from stdin. It holds secrets: one in its heap,
 * made at run time out of the environment's KEY, so that it stands in no file of the program.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char text[8192];
static volatile int sink;

static void say(const char *line)
{
    if (write(1, line, strlen(line)) < 0)
        _exit(99);
}

/* Names in a folder of numbers, sorted as the kernel gives them, without opendir, which allocates. */
static void list(const char *folder, const char *title)
{
    char bytes[4096], link[64], target[256], line[512];
    int fd = open(folder, O_RDONLY | O_DIRECTORY), count = 0;
    if (fd < 0) {
        snprintf(line, sizeof line, "%s: none\n", title);
        return say(line);
    }
    for (long got; (got = syscall(SYS_getdents64, fd, bytes, sizeof bytes)) > 0;) {
        for (long at = 0; at < got;) {
            const char *name = bytes + at + 19;
            at += *(unsigned short *)(bytes + at + 16);
            if (name[0] == '.')
                continue;
            count++;
            if (!strcmp(title, "fd") && atoi(name) != fd) {
                snprintf(link, sizeof link, "%s/%s", folder, name);
                long length = readlink(link, target, sizeof target - 1);
                target[length > 0 ? length : 0] = 0;
                /* Pipes have other numbers in another run. */
                target[strcspn(target, "[")] = 0;
                snprintf(line, sizeof line, "%s %s %s\n", title, name, target);
                say(line);
            }
        }
    }
    close(fd);
    snprintf(line, sizeof line, "%s: %d\n", title, count);
    say(line);
}

/* What stands behind `name` in /proc/self/status. */
static void status(const char *name)
{
    int fd = open("/proc/self/status", O_RDONLY);
    long length = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = 0;
    char *found = strstr(text, name);
    if (!found)
        return;
    found[strcspn(found, "\n") + 1] = 0;
    say(found);
}

static void facts(const char *when)
{
    char line[128];
    snprintf(line, sizeof line, "-- %s, uid %d %d gid %d %d\n", when, getuid(), geteuid(), getgid(), getegid());
    say(line);
    list("/proc/self/fd", "fd");
    list("/proc/self/task", "task");
    status("Umask:");
    status("CapEff:");
    status("SigCgt:");
}

static __attribute__((noinline)) void deep(long seed, int depth)
{
    if (depth > 0) {
        if (seed & 1)
            deep(seed >> 1, depth - 1);
        else
            deep(seed >> 1, depth - 1), sink++;
        return;
    }
    char *block = malloc(1 + seed % 1000);
    if (!block)
        _exit(98);
    block[0] = 1;
    sink += block[0];
    free(block);
}

int main(int argc, char **argv)
{
    long blocks = argc > 1 ? atol(argv[1]) : 1000;
    char byte, line[64];
    facts("before");
    const char *key = getenv("KEY");
    char *secret = malloc(4096);
    for (size_t i = 0; secret && i + 1 < 4096; i++)
        secret[i] = key ? "0123456789abcdef"[(key[i % strlen(key)] ^ 5) & 15] : 'x';
    facts("after one");
    if (argc > 2 && !strcmp(argv[2], "wait")) {
        say("half\n");
        if (read(0, &byte, 1) != 1)
            say("nothing to read\n");
    }
    for (long i = 0; i < blocks; i++)
        deep(i, (int)(i % 13));
    facts("at the end");
    snprintf(line, sizeof line, "%ld blocks\n", blocks);
    say(line);
    if (secret)
        sink += secret[blocks % 4096];
    free(secret);
    return 3;
}
