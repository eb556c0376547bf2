/* Two threads load and unload libraries without end while a third allocates and main forks: the child inherits the
 * loader's locks and lists as they stood, and may still allocate.
 *
 * @flags -ldl
 */
#include "../torture.h"
#include <dlfcn.h>

static volatile int stop;

static void *storm(void *name)
{
    while (!stop) {
        void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        CHECK(library);
        CHECK(dlclose(library) == 0);
    }
    return NULL;
}

static void *busy(void *nothing)
{
    while (!stop)
        churn(50);
    return nothing;
}

int main(void)
{
    void *probe = dlopen("libanl.so.1", RTLD_NOW), *other = dlopen("libutil.so.1", RTLD_NOW);
    if (!probe || !other)
        skip("no libanl.so.1 or libutil.so.1");
    CHECK(dlclose(probe) == 0 && dlclose(other) == 0);
    pthread_t threads[] = {start_thread(storm, (void *)"libanl.so.1"), start_thread(storm, (void *)"libutil.so.1"),
                           start_thread(busy, NULL)};
    for (int i = 0; i < 40; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            churn(100);
            _exit(i);
        }
        CHECK(status_of(child) == i);
    }
    stop = 1;
    for (int i = 0; i < 3; i++)
        join_thread(threads[i]);
    say("forked amid dlopen\n");
    return 0;
}
