/* Handlers of exit that allocate, register others, and call exit themselves; in a child and in its parent. */
#include "../torture.h"

static void *kept[3];
static int own = 40;

static void registered_late(void)
{
    churn(30);
    say("registered late\n");
}

static void plain(void)
{
    free(kept[0]);
    kept[1] = keep(malloc(300));
    CHECK(atexit(registered_late) == 0);
    exit(own + 2);
}

static void with_status(int status, void *argument)
{
    say("status %d\n", status);
    free(argument);
    churn(30);
    exit(own + 1);
}

static void one_of_many(void)
{
    kept[0] = keep(realloc(kept[0], 64 + (size_t)(rand() % 64)));
}

__attribute__((destructor)) static void at_end(void)
{
    free(kept[1]);
    churn(30);
    say("destructor\n");
}

int main(void)
{
    CHECK(atexit(plain) == 0);
    for (int i = 0; i < 100; i++)
        CHECK(atexit(one_of_many) == 0);
    CHECK(on_exit(with_status, keep(malloc(200))) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        own = 60;
        exit(60);
    }
    CHECK(status_of(child) == 62);
    return 40;
}
