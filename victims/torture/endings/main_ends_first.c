/* Main leaves by pthread_exit; the threads allocate on, free what main had, and the last of them ends the process. */
#include "../torture.h"

static void *blocks[8];
static pthread_t first;

static void *thread(void *number)
{
    int me = (int)(intptr_t)number;
    if (me == 0)
        join_thread(first);
    churn(2000);
    free(blocks[me]);
    return NULL;
}

int main(void)
{
    first = pthread_self();
    for (int i = 0; i < 8; i++)
        blocks[i] = keep(malloc(1000));
    for (int i = 0; i < 8; i++)
        CHECK(pthread_detach(start_thread(thread, (void *)(intptr_t)i)) == 0);
    say("main ends\n");
    pthread_exit(NULL);
}
