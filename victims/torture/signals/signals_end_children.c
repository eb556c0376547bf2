/* Every signal that ends a process ends a child amid its work.
 *
 * @may lack: they are killed before they did much
 */
#include "../torture.h"
#include <sys/resource.h>

int main(void)
{
    const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,  SIGFPE,    SIGKILL, SIGUSR1, SIGSEGV,
                           SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGXCPU, SIGXFSZ, SIGPROF, SIGVTALRM, SIGIO,   SIGSYS};
    struct rlimit none = {0, 0};
    CHECK(setrlimit(RLIMIT_CORE, &none) == 0);
    void *inherited = keep(malloc(500));
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            free(inherited);
            for (int j = 0; j < (i % 2 ? 50 : 4000); j++)
                free(keep(malloc(100 + (size_t)j % 300)));
            kill(getpid(), signals[i]);
            CHECK(!"here");
        }
        CHECK(status_of(child) == 1000 + signals[i]);
    }
    free(inherited);
    say("all of them died\n");
    return 0;
}
