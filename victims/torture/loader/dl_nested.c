/* dlopen inside a constructor and dlclose inside a destructor: the inner close ends while the outer one is under way.
 *
 * @flags -ldl
 */
#include "../loader.h"

static void *work(void *argument)
{
    for (int i = 0; i < 40; i++) {
        void *outer = load("plug_nest", RTLD_NOW);
        churn(20);
        CHECK(dlclose(outer) == 0);
    }
    return argument;
}

int main(void)
{
    pthread_t id = start_thread(work, NULL);
    work(NULL);
    join_thread(id);
    say("nested\n");
    return 0;
}
