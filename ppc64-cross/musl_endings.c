/* Allocates where libc calls the program back, then ends: `endings return|exit|_Exit|abort|thread`. Prints `errno` if
 * the allocator's calls change it.
 *
 * Back from libc: constructor and destructor, exit handler, signal handler, the cleanup handler and the thread's own
 * data of a thread that left by pthread_exit, of one that has a small stack, and of one that was cancelled in pause(). */
#define _GNU_SOURCE
#include "../victims/victim.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_key_t key;

SITE void at_exit(void) { keep(malloc(111)); }

SITE void of_thread(void *block)
{
    free(block);
    keep(malloc(222));
}

SITE void cleanup(void *block)
{
    free(block);
    keep(malloc(333));
}

SITE void on_signal(int number)
{
    (void)number;
    keep(malloc(444));
}

__attribute__((constructor)) SITE static void construct(void) { keep(malloc(555)); }
__attribute__((destructor)) SITE static void destruct(void) { keep(malloc(666)); }

static int is_waiting;

SITE void *leave(void *waits)
{
    pthread_setspecific(key, keep(malloc(10)));
    pthread_cleanup_push(cleanup, keep(malloc(20)));
    if (!waits)
        pthread_exit(NULL);
    __atomic_store_n(&is_waiting, 1, __ATOMIC_RELEASE);
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return NULL;
}

static void threads(void)
{
    pthread_t thread;
    pthread_attr_t small;
    pthread_key_create(&key, of_thread);
    pthread_create(&thread, NULL, leave, NULL);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, leave, &key);
    while (!__atomic_load_n(&is_waiting, __ATOMIC_ACQUIRE))
        usleep(1000);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    pthread_create(&thread, &small, leave, NULL);
    pthread_join(thread, NULL);
}

static void own_calls_of_libc(void)
{
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen("/etc/passwd", "r");
    if (file && getline(&line, &room, file) > 0)
        fclose(file);
    free(line);
    free(strdup("a copy"));
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "return";
    atexit(at_exit);
    threads();
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    own_calls_of_libc();
    errno = 77;
    free(keep(malloc(77777777)));
    if (errno != 77)
        puts("errno");
    if (!strcmp(how, "exit"))
        exit(5);
    if (!strcmp(how, "_Exit"))
        _Exit(3);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "thread"))
        pthread_exit(NULL);
    return 0;
}
