/* One thread only allocates, four only free, over a lock-free slot array: an address is born again in the producer the moment
 * a consumer has let it go, so records out of order show as a block that is live twice.
 */
#include "../torture.h"
#include <sched.h>

enum { CONSUMERS = 4, BLOCKS = 100000, SLOTS = 32 };
static void *slots[SLOTS];
static int freed, done;

static void *consume(void *nothing)
{
    for (int at = 0;; at = (at + 1) % SLOTS) {
        void *block = __atomic_exchange_n(&slots[at], NULL, __ATOMIC_ACQ_REL);
        if (block) {
            free(block);
            __atomic_fetch_add(&freed, 1, __ATOMIC_RELAXED);
        } else if (at == 0) {
            if (__atomic_load_n(&done, __ATOMIC_ACQUIRE))
                return nothing;
            sched_yield();
        }
    }
}

int main(void)
{
    pthread_t ids[CONSUMERS];
    for (int i = 0; i < CONSUMERS; i++)
        ids[i] = start_thread(consume, NULL);
    for (int i = 0; i < BLOCKS; i++) {
        void *block = keep(malloc(2000)), *none = NULL;
        CHECK(block);
        for (int at = i % SLOTS;; at = (at + 1) % SLOTS, none = NULL) {
            if (__atomic_compare_exchange_n(&slots[at], &none, block, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
                break;
            if (at == 0)
                sched_yield();
        }
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < CONSUMERS; i++)
        join_thread(ids[i]);
    for (int i = 0; i < SLOTS; i++)
        if (slots[i]) {
            free(slots[i]);
            freed++;
        }
    CHECK(freed == BLOCKS);
    say("%d blocks\n", freed);
    return 0;
}
