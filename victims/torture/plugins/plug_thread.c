/* A plugin whose constructor starts a thread that allocates, and waits for it while the loader's lock is held. Its
 * destructor does so as well.
 *
 * @plugin
 */
#include "../torture.h"

static void *work(void *given)
{
    churn(100);
    free(given);
    return keep(malloc(64));
}

static void once(void)
{
    pthread_t id;
    CHECK(pthread_create(&id, NULL, work, keep(malloc(640))) == 0);
    churn(100);
    void *made;
    CHECK(pthread_join(id, &made) == 0);
    free(made);
}

__attribute__((constructor)) static void begin(void)
{
    once();
}

__attribute__((destructor)) static void end(void)
{
    once();
}
