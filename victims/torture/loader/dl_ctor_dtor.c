/* Constructors and destructors with priorities allocate and free, in a plugin that comes and goes and in the program,
 * where the first runs before main and the last after every exit handler.
 *
 * @flags -ldl
 */
#include "../loader.h"

static void *block, *exit_block;

__attribute__((constructor(101))) static void begin(void)
{
    block = keep(malloc(777));
    churn(100);
}

__attribute__((destructor(101))) static void end(void)
{
    CHECK(!exit_block);
    churn(100);
    free(block);
    say("last\n");
}

static void at_exit(void)
{
    free(exit_block);
    exit_block = NULL;
    churn(20);
}

int main(void)
{
    CHECK(block && atexit(at_exit) == 0);
    exit_block = keep(malloc(99));
    for (int i = 0; i < 30; i++) {
        void *handle = load("plug_life", RTLD_NOW);
        churn(20);
        CHECK(dlclose(handle) == 0);
    }
    load("plug_life", RTLD_LAZY | RTLD_GLOBAL);
    say("thirty lives and one\n");
    return 0;
}
