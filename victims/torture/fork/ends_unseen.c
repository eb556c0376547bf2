/* A forked child ends by _Exit, which is another name of _exit, by quick_exit, or by abort: all of them orderly enough
 * for a log of its own, however little it did. */
#include "../torture.h"
#include <sys/resource.h>

int main(void)
{
    struct rlimit none = {0, 0};
    CHECK(setrlimit(RLIMIT_CORE, &none) == 0);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            churn(40);
            if (i == 0)
                _Exit(i);
            if (i == 1)
                quick_exit(i);
            abort();
        }
        CHECK(status_of(child) == (i < 2 ? i : 1000 + SIGABRT));
    }
    say("three ends\n");
    return 0;
}
