/* What the torture programs share. Each is one hazard that broke, or could break, a recorder of allocations.
 *
 * A program is run by itself, under memlog, and under memlog and the second recorder. It must end the same way each time:
 * same status, same output, same files left in its folder, in at most ten times the time. So it prints nothing that differs
 * from run to run (no addresses, no process numbers), ends within a second, and leaves nothing running. It checks itself, and
 * says what is wrong on stdout. Where the machine cannot do what it is about, it says why and ends with 77.
 *
 * The folders, by kind of hazard:
 *   allocators/   malloc is the program's own, or another library's
 *   cxx/          operators, exceptions and the C++ library
 *   descriptors/  file descriptors, files, and the log's own file
 *   endings/      the program's first and last moments: constructors, exit, abort
 *   exec/         exec, vfork and posix_spawn
 *   filters/      seccomp
 *   fork/         fork and clone, daemons, orphans, ptrace
 *   heap/         malloc, realloc, free and their arguments
 *   libc/         what the C library allocates by itself
 *   limits/       rlimits, and memory that has run out
 *   loader/       dlopen, dlmopen, dlsym, auditors
 *   mappings/     mmap, mremap, munmap, brk, huge pages
 *   plugins/      no programs: the libraries that loader/ and cxx/ load
 *   process/      its user, root, folder, namespaces and /proc
 *   signals/      handlers, alternate stacks, timers
 *   stacks/       deep, moved, shared and copied stacks; coroutines; longjmp
 *   threads/      threads, their data, cancellation
 *
 * All are built into one folder, so no two may have one name.
 *
 * In the comment at its head stands what the hazard is, and words for the test:
 *   @flags -ldl ...   what it is compiled and linked with
 *   @args A B         its arguments
 *   @plugin           it is a library, built as NAME.so beside the programs
 *   @may lose         events may be lost, if the log counts them: and the comment says why
 *   @may begin late   a thread's first events may be lost, where recording goes on amid the run
 *   @may reuse        addresses may come that were not seen to go: and the comment says why
 *   @may lack         children may leave no log, for they are killed or exec'd before they did much
 *   @uncounted        events are not compared with the second recorder's: and the comment says why
 */
#ifndef TORTURE_H
#define TORTURE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../victim.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Prints without stdio, which has buffers of its own. */
__attribute__((format(printf, 1, 2))) static inline void say(const char *format, ...)
{
    char line[512];
    va_list more;
    va_start(more, format);
    int length = vsnprintf(line, sizeof line, format, more);
    va_end(more);
    if (length > 0 && write(1, line, length < (int)sizeof line ? length : (int)sizeof line - 1) < 0)
        _exit(99);
}

/* What the program is about is not to be had here. */
__attribute__((noreturn, format(printf, 1, 2))) static inline void skip(const char *format, ...)
{
    char line[512];
    va_list more;
    va_start(more, format);
    int length = vsnprintf(line, sizeof line, format, more);
    va_end(more);
    say("%.*s\n", length, line);
    _exit(77);
}

#define CHECK(what)                                                     \
    do {                                                                \
        if (!(what)) {                                                  \
            int saved_errno = errno;                                    \
            say("line %d: not %s (%s)\n", __LINE__, #what, strerror(saved_errno)); \
            _exit(98);                                                  \
        }                                                               \
    } while (0)

/* So many blocks come, change their size and go, all of them. */
static inline void churn(int rounds)
{
    enum { HELD = 16 };
    void *held[HELD] = {0};
    for (int i = 0; i < rounds; i++) {
        void **place = &held[i * 7 % HELD];
        size_t size = 16 + (size_t)(i * 131 % 2000);
        if (i % 5 == 4) {
            void *more = keep(realloc(*place, size));
            CHECK(more);
            *place = more;
        } else {
            free(*place);
            *place = keep(malloc(size));
            CHECK(*place);
        }
        memset(*place, i, size < 64 ? size : 64);
    }
    for (int i = 0; i < HELD; i++)
        free(held[i]);
}

static inline pthread_t start_thread(void *(*start)(void *), void *argument)
{
    pthread_t id;
    CHECK(pthread_create(&id, NULL, start, argument) == 0);
    return id;
}

static inline void join_thread(pthread_t id)
{
    CHECK(pthread_join(id, NULL) == 0);
}

/* Waits until no more threads than these are left: who vanishes on his own does that later on a busy machine. */
static inline void wait_for_threads(unsigned long left)
{
    struct stat tasks;
    while (stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > left + 2)
        usleep(1000);
}

/* A child's status: its code, or 1000 and the signal that ended it. */
static inline int status_of(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        CHECK(errno == EINTR);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

#endif
