/* Six threads run into the limit on address space at once, while new threads cannot be made; each recovers by itself.
 *
 * @may lose: the log needs address space as well, of which there is none
 * @uncounted: what is lost the second recorder has
 */
#include "../torture.h"
#include <sys/resource.h>

static pthread_barrier_t all;

static void *work(void *nothing)
{
    for (int round = 0; round < 10; round++) {
        pthread_barrier_wait(&all);
        void *first = NULL, **p;
        while ((p = keep(malloc(1 << 20)))) {
            *p = first;
            first = p;
        }
        CHECK(errno == ENOMEM);
        free(keep(malloc(100)));
        pthread_barrier_wait(&all);
        while (first) {
            void *next = *(void **)first;
            free(first);
            first = next;
        }
    }
    return nothing;
}

int main(void)
{
    const struct rlimit limit = {(rlim_t)3 << 29, (rlim_t)3 << 29};
    pthread_t ids[6];
    CHECK(pthread_barrier_init(&all, NULL, 6) == 0 && setrlimit(RLIMIT_AS, &limit) == 0);
    for (int i = 0; i < 6; i++)
        ids[i] = start_thread(work, NULL);
    for (int i = 0; i < 6; i++)
        join_thread(ids[i]);
    churn(500);
    say("all recovered\n");
    return 0;
}
