/* Gives up new privileges and does something: `heralded HOW BLOCKS [THREADS]`. Each letter of HOW is a step:
 *   h  no new privileges          v  the same by a child of vfork, which ends then
 *   w  BLOCKS come and go         t  in each of THREADS threads BLOCKS come and go
 *   f  THREADS children are forked, in each BLOCKS come and go twice, and it is killed
 *   k  killed                     x  becomes /bin/true
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "victim.h"
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static long blocks;

static void *work(void *nothing)
{
    for (long i = 0; i < blocks; i++)
        free(keep(malloc(16 + (size_t)i % 1000)));
    return nothing;
}

int main(int argc, char **argv)
{
    pthread_t threads[64];
    int count = argc > 3 ? atoi(argv[3]) : 0;
    if (argc < 3 || count > 64)
        return 95;
    blocks = atol(argv[2]);
    free(keep(malloc(100)));
    for (const char *how = argv[1]; *how; how++)
        switch (*how) {
        case 'h':
            prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            break;
        case 'v': {
            pid_t child = vfork();
            if (child == 0) {
                prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
                _exit(0);
            }
            waitpid(child, NULL, 0);
            break;
        }
        case 'w':
            work(NULL);
            break;
        case 't':
            for (int i = 0; i < count; i++)
                pthread_create(&threads[i], NULL, work, NULL);
            for (int i = 0; i < count; i++)
                pthread_join(threads[i], NULL);
            break;
        case 'f':
            for (int i = 0; i < count; i++)
                if (fork() == 0) {
                    work(NULL);
                    usleep(100000);
                    work(NULL);
                    raise(SIGKILL);
                }
            while (wait(NULL) > 0)
                ;
            break;
        case 'k':
            raise(SIGKILL);
            break;
        case 'x':
            execl("/bin/true", "true", (char *)0);
            return 94;
        default:
            return 93;
        }
    return 0;
}
