/* The program runs again with an auditor: before the first library is bound there is a second libc with a heap of its
 * own, symbols are bound through the auditor, and the loader calls it with its locks held.
 *
 * @flags -ldl
 */
#include "../again.h"

static void *work(void *argument)
{
    churn(500);
    return argument;
}

int main(int argc, char **argv)
{
    (void)argc;
    char path[2000];
    plugin_path(path, sizeof path, "plug_audit");
    again_with(argv, "LD_AUDIT", path);
    pthread_t id = start_thread(work, NULL);
    for (int i = 0; i < 20; i++) {
        CHECK(dlclose(load("plug_small", RTLD_NOW)) == 0);
        churn(50);
    }
    join_thread(id);
    say("audited\n");
    return 0;
}
