/* Six threads map and unmap one size as fast as they can, so that one address passes from hand to hand.
 */
#include "../torture.h"
#include <sys/mman.h>

static void *work(void *nothing)
{
    for (int i = 0; i < 4000; i++) {
        char *p = mmap(NULL, 32768, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(p != MAP_FAILED);
        p[100] = 1;
        CHECK(munmap(p, 32768) == 0);
    }
    free(keep(malloc(100)));
    return nothing;
}

int main(void)
{
    pthread_t ids[6];
    for (int i = 0; i < 6; i++)
        ids[i] = start_thread(work, NULL);
    for (int i = 0; i < 6; i++)
        join_thread(ids[i]);
    say("from hand to hand\n");
    return 0;
}
