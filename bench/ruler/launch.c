/* Runs a program and says what it used: `launch RESULTS TIMES [NAME=VALUE].. PROGRAM ARGS`.
 *
 * A line a run goes to RESULTS: exit status, user and system microseconds, wall nanoseconds, peak RSS in KiB,
 * page faults. Small on purpose: the peak of a child is never below that of the process that started it. What is set, is set for the child.
 */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ll + time.tv_nsec;
}

int main(int argc, char **argv)
{
    char *child_environment[1000];
    int count = 0, at = 3;
    if (argc < 4)
        return 2;
    for (char **variable = environ; *variable && count < 900; variable++)
        child_environment[count++] = *variable;
    for (; at < argc && strchr(argv[at], '=') && count < 999; at++)
        child_environment[count++] = argv[at];
    child_environment[count] = NULL;
    FILE *results = fopen(argv[1], "we");
    if (!results || at >= argc)
        return 2;
    for (int times = atoi(argv[2]); times > 0; times--) {
        pid_t child;
        int status;
        struct rusage used;
        long long began = now();
        if (posix_spawn(&child, argv[at], NULL, NULL, argv + at, child_environment) || wait4(child, &status, 0, &used) < 0)
            return 2;
        long long wall = now() - began;
        fprintf(results, "%d %lld %lld %lld %ld %ld\n", status, used.ru_utime.tv_sec * 1000000ll + used.ru_utime.tv_usec,
                used.ru_stime.tv_sec * 1000000ll + used.ru_stime.tv_usec, wall, used.ru_maxrss, used.ru_minflt);
    }
    return fclose(results) != 0;
}
