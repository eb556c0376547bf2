/* Short threads take and give back a page each while others hold the lock of the address space, so that each of them waits
 * somewhere within its event, and looks at resident memory meanwhile. What the ledger of mappings orders one way, those
 * readings must not order the other way.
 */
#include "../torture.h"
#include <sys/mman.h>

enum { BUSY = 2, WAVES = 12, THREADS = 24, BYTES = 48 << 20 };
static int done;

static void *hold(void *range)
{
    for (int writable = 0; !__atomic_load_n(&done, __ATOMIC_ACQUIRE); writable = !writable)
        CHECK(!mprotect(range, BYTES, PROT_READ | (writable ? PROT_WRITE : 0)));
    return NULL;
}

static void *take(void *nothing)
{
    for (int i = 0; i < 3; i++) {
        char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(page != MAP_FAILED);
        page[0] = 1;
        free(keep(malloc(300000)));
        CHECK(!munmap(page, 4096));
    }
    return nothing;
}

int main(void)
{
    pthread_t busy[BUSY], ids[THREADS];
    for (int i = 0; i < BUSY; i++) {
        char *range = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(range != MAP_FAILED);
        memset(range, 1, BYTES);
        busy[i] = start_thread(hold, range);
    }
    for (int wave = 0; wave < WAVES; wave++) {
        for (int i = 0; i < THREADS; i++)
            ids[i] = start_thread(take, NULL);
        for (int i = 0; i < THREADS; i++)
            join_thread(ids[i]);
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < BUSY; i++)
        join_thread(busy[i]);
    say("%d threads\n", WAVES * THREADS);
    return 0;
}
