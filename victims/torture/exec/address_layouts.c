/* Address spaces laid out otherwise: not randomised, bottom up, everything executable, with a stack without limit.
 *
 * @may lack: children that exec at once have no events
 */
#include "../torture.h"
#include <sys/personality.h>
#include <sys/resource.h>

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        churn(2000);
        free(keep(malloc(10 << 20)));
        return 0;
    }
    static const unsigned long layouts[] = {0, ADDR_NO_RANDOMIZE, ADDR_COMPAT_LAYOUT, ADDR_COMPAT_LAYOUT | ADDR_NO_RANDOMIZE,
        READ_IMPLIES_EXEC, MMAP_PAGE_ZERO, STICKY_TIMEOUTS};
    for (size_t i = 0; i < 2 * sizeof layouts / sizeof *layouts; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            struct rlimit stack;
            CHECK(getrlimit(RLIMIT_STACK, &stack) == 0);
            stack.rlim_cur = i % 2 ? stack.rlim_max : stack.rlim_cur;
            CHECK(setrlimit(RLIMIT_STACK, &stack) == 0);
            if (personality(layouts[i / 2]) < 0)
                _exit(0); /* not allowed here */
            execl("/proc/self/exe", "self", "child", (char *)NULL);
            _exit(97);
        }
        CHECK(status_of(child) == 0);
    }
    say("laid out otherwise\n");
    return 0;
}
