/* Threads started in constructors and destructors: a new thread's first allocation happens while the thread that waits
 * for it holds the loader's lock. A recorder that asks the loader then waits for ever.
 *
 * @flags -ldl
 */
#include "../loader.h"

static void *work(void *argument)
{
    for (int i = 0; i < 10; i++) {
        CHECK(dlclose(load("plug_thread", RTLD_NOW)) == 0);
        churn(50);
    }
    return argument;
}

int main(void)
{
    pthread_t id = start_thread(work, NULL);
    work(NULL);
    join_thread(id);
    say("threads in constructors\n");
    return 0;
}
