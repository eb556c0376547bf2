/* A call that recording goes off over. Built with LIBRARY: an allocator whose calls for 54321 bytes wait until they may
 * end; it is preloaded behind memlog. `late_calls HOW`: a thread makes such a call, and recording goes off meanwhile.
 *   m  malloc                                  r  realloc, of 1,000 bytes
 *   o  ends while recording is off, and the block goes then      n  the same, but it goes when recording is on again
 *   w  ends when recording is on again
 * When the thread has ended, a block of 100 bytes comes. */
#define _GNU_SOURCE
#include <stdlib.h>

enum { LATE = 54321 };

#ifdef LIBRARY

extern void *__libc_malloc(size_t), *__libc_realloc(void *, size_t);
volatile int late_is_in, late_may_end;

static void wait_if(size_t size) {
    if (size != LATE)
        return;
    late_is_in = 1;
    while (!late_may_end)
        ;
}

void *malloc(size_t size) {
    void *block = __libc_malloc(size);
    wait_if(size);
    return block;
}

void *realloc(void *old, size_t size) {
    void *block = __libc_realloc(old, size);
    wait_if(size);
    return block;
}

#else

#include "../include/memlog.h"
#include <dlfcn.h>
#include <pthread.h>

static volatile int has_ended, may_free;

static void *work(void *how) {
    void *block = *(char *)how == 'm' ? malloc(LATE) : realloc(malloc(1000), LATE);
    has_ended = 1;
    while (!may_free)
        ;
    free(block);
    return NULL;
}

int main(int count, char **arguments) {
    volatile int *is_in = dlsym(RTLD_DEFAULT, "late_is_in"), *may_end = dlsym(RTLD_DEFAULT, "late_may_end");
    pthread_t thread;
    if (count < 2 || !is_in || !may_end)
        return 2;
    char how = arguments[1][1];
    pthread_create(&thread, NULL, work, arguments[1]);
    while (!*is_in)
        ;
    memlog_stop();
    if (how == 'w')
        memlog_start();
    *may_end = 1;
    while (!has_ended)
        ;
    if (how == 'n')
        memlog_start();
    may_free = 1;
    pthread_join(thread, NULL);
    if (how == 'o')
        memlog_start();
    void *last = malloc(100);
    __asm__ volatile("" : "+r"(last) : : "memory");
    return last == NULL;
}

#endif
