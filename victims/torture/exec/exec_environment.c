/* An environment that is changed, made large, emptied and forged before exec: by setenv, by hand, by clearenv. */
#include "../torture.h"

static void next(const char *self, const char *step)
{
    execl("/proc/self/exe", self, step, (char *)NULL);
    CHECK(!"exec");
}

int main(int argc, char **argv)
{
    static char *const mine[] = {(char *)"ONLY=this", (char *)"=odd", (char *)"odder", NULL}, *const none[] = {NULL};
    int step = argc > 1 ? atoi(argv[1]) : 0;
    churn(50);
    switch (step) {
    case 0: {
        char name[32], *value = keep(malloc(1000));
        memset(value, 'v', 999);
        value[999] = 0;
        for (int i = 0; i < 300; i++) {
            snprintf(name, sizeof name, "TORTURE_%d", i);
            CHECK(setenv(name, value, 1) == 0);
        }
        free(value);
        next(argv[0], "1");
    } /* fall through */
    case 1:
        CHECK(getenv("TORTURE_299") && strlen(getenv("TORTURE_299")) == 999);
        for (char **entry = environ; *entry;)
            if (!strncmp(*entry, "TORTURE_", 8)) {
                char *end = strchr(*entry, '=');
                char *name = keep(strndup(*entry, (size_t)(end - *entry)));
                CHECK(unsetenv(name) == 0);
                free(name);
            } else
                entry++;
        CHECK(putenv((char *)"MALLOC_ARENA_MAX=1") == 0);
        next(argv[0], "2");
        break;
    case 2:
        CHECK(getenv("MALLOC_ARENA_MAX") && !getenv("TORTURE_0"));
        execve("/proc/self/exe", (char *[]){argv[0], (char *)"3", NULL}, mine);
        break;
    case 3:
        CHECK(getenv("ONLY") && environ[0] && environ[2] && !environ[3]);
        execve("/proc/self/exe", (char *[]){argv[0], (char *)"4", NULL}, none);
        break;
    case 4:
        CHECK(!environ[0] && clearenv() == 0);
        say("the environment is empty\n");
        return 0;
    }
    CHECK(!"exec");
}
