/* A library is loaded locally, found again by RTLD_NOLOAD, made global, and closed as often as opened: handles are counted,
 * and only the last dlclose unmaps, while others use its code.
 *
 * @flags -ldl
 */
#include "../loader.h"

static void (*run)(int);

static void *work(void *argument)
{
    for (int i = 0; i < 20; i++)
        run(20);
    return argument;
}

int main(void)
{
    for (int i = 0; i < 15; i++) {
        void *first = load("plug_small", RTLD_LAZY | RTLD_LOCAL);
        void *again = load("plug_small", RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
        CHECK(again == first);
        run = (void (*)(int))find(again, "plug_churn");
        pthread_t id = start_thread(work, NULL);
        for (int n = 0; n < 10; n++)
            CHECK(dlclose(load("plug_small", RTLD_NOW)) == 0);
        CHECK(dlclose(first) == 0);
        join_thread(id);
        CHECK(dlclose(again) == 0 && !dlopen("plug_small.so", RTLD_LAZY | RTLD_NOLOAD));
    }
    say("promoted\n");
    return 0;
}
