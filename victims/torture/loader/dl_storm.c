/* Libraries come and go in two threads while three others allocate: the loader holds its locks when it allocates and
 * frees, and a recorder that asks the loader about modules under a lock of its own waits for ever.
 *
 * @flags -ldl
 */
#include "../loader.h"

static volatile int ended;

static void *allocate(void *argument)
{
    (void)argument;
    while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE))
        churn(100);
    return NULL;
}

static void *storm(void *name)
{
    for (int i = 0; i < 150; i++) {
        void *handle = load((const char *)name, RTLD_NOW | RTLD_LOCAL);
        void *(*alloc)(size_t) = (void *(*)(size_t))find(handle, "plug_alloc");
        free(alloc(100 + (size_t)i));
        CHECK(dlclose(handle) == 0);
    }
    return NULL;
}

int main(void)
{
    pthread_t allocators[3], loaders[2];
    for (int i = 0; i < 3; i++)
        allocators[i] = start_thread(allocate, NULL);
    loaders[0] = start_thread(storm, (void *)"plug_small");
    loaders[1] = start_thread(storm, (void *)"plug_large");
    for (int i = 0; i < 2; i++)
        join_thread(loaders[i]);
    __atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 3; i++)
        join_thread(allocators[i]);
    say("300 loads\n");
    return 0;
}
