/* Two million malloc and free in a tight loop, in two threads, with nothing else to do: the log must keep up. */
#include "../torture.h"

static void *work(void *nothing)
{
    for (int i = 0; i < 1000000; i++)
        free(keep(malloc(64)));
    return nothing;
}

int main(void)
{
    pthread_t id = start_thread(work, NULL);
    work(NULL);
    join_thread(id);
    say("two million\n");
    return 0;
}
