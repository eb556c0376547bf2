/* A plugin's variables of a thread: the loader allocates them behind the first use in each thread, at any place, and
 * frees them when the thread ends or the plugin goes, with its own malloc calls under its locks.
 *
 * @flags -ldl
 */
#include "../loader.h"

static int (*use)(int);
static void (*end)(void);

static void *work(void *argument)
{
    CHECK(use(5) == 0 && use(6) == 5);
    churn(50);
    end();
    return argument;
}

int main(void)
{
    for (int i = 0; i < 20; i++) {
        void *handle = load("plug_tls", RTLD_NOW);
        use = (int (*)(int))find(handle, "plug_use");
        end = (void (*)(void))find(handle, "plug_end");
        pthread_t threads[4];
        for (int t = 0; t < 4; t++)
            threads[t] = start_thread(work, NULL);
        work(NULL);
        for (int t = 0; t < 4; t++)
            join_thread(threads[t]);
        CHECK(dlclose(handle) == 0);
    }
    say("100 threads\n");
    return 0;
}
