/* The environment is emptied, filled anew a thousand times, and is large when an image starts: it is the program's, and the
 * recorder's own settings are found in it wherever they stand.
 *
 * @may lack: children exec
 * @uncounted: what starts without an environment is not recorded
 */
#include "../torture.h"

extern char **environ;

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        int count = 0;
        while (environ && environ[count] && count < 100)
            count++;
        churn(3000);
        if (argc > 2)
            exit(count == 0 ? 0 : 9);
        const char *big = getenv("BIG_7");
        exit(big && strlen(big) == 100000 ? 0 : 8);
    }
    char name[32], *text = keep(malloc(100001));
    memset(text, 'x', 100000);
    text[100000] = 0;
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "NAME_%d", i % 50);
        CHECK(setenv(name, i % 3 ? "short" : "something longer", 1) == 0);
        if (i % 4 == 3)
            CHECK(unsetenv(name) == 0);
    }
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof name, "BIG_%d", i);
        CHECK(setenv(name, text, 1) == 0);
    }
    free(text);
    for (int empty = 0; empty < 2; empty++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            if (empty)
                CHECK(clearenv() == 0);
            execl("/proc/self/exe", "env_storm", "again", empty ? "empty" : NULL, NULL);
            _exit(96);
        }
        CHECK(status_of(child) == 0);
    }
    CHECK(clearenv() == 0);
    churn(10000);
    CHECK(!environ || !environ[0]);
    say("empty\n");
    return 0;
}
