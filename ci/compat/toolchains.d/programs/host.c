/* Loads two C++ plugins in turn, again and again, from main and from threads beside main. Each is unloaded before the next
 * is loaded, mostly to the same addresses. PLUGINS is their folder; ends with 3 where one does not load, run or unload. */
#include "seen.h"
#include <dlfcn.h>
#include <pthread.h>

typedef void *(*maker)(void);
typedef int (*runner)(maker, int);
enum { ROUNDS = 4, THREADS = 2, IN_THREAD = 40 };
static volatile int deeper = 3;

static void *plugin(char name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/plugin_%c.so", getenv("PLUGINS"), name);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

SITE static int through(runner run, int depth)
{
    int said = depth ? through(run, depth - 1) : run(seen, depth + 2);
    __asm__ volatile("" ::: "memory");
    return said;
}

SITE static void load_and_run(char name)
{
    void *loaded = plugin(name);
    runner run = loaded ? (runner)dlsym(loaded, "plugin_run") : NULL;
    int said = run ? through(run, deeper) : -1;
    say("plugin:", said);
    if (!run || dlclose(loaded))
        _exit(3);
}

static void *work(void *of)
{
    runner run = (runner)of;
    intptr_t sum = 0;
    for (int i = 0; i < IN_THREAD; i++)
        sum += through(run, i % 5);
    return (void *)sum;
}

/* One stays loaded and runs in threads while the other comes and goes. */
SITE static void beside_threads(void)
{
    pthread_t threads[THREADS];
    void *kept = plugin('a'), *said;
    runner run = kept ? (runner)dlsym(kept, "plugin_run") : NULL;
    intptr_t sum = 0;
    if (!run)
        _exit(3);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)run))
            _exit(3);
    for (int round = 0; round < ROUNDS; round++)
        load_and_run('b');
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &said);
        sum += (intptr_t)said;
    }
    say("threads:", sum);
    if (dlclose(kept))
        _exit(3);
}

int main(void)
{
    seen_begin();
    for (int round = 0; round < ROUNDS; round++) {
        load_and_run('a');
        load_and_run('b');
    }
    beside_threads();
    return 0;
}
