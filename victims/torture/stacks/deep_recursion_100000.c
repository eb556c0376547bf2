/* A hundred thousand frames, with blocks that come on the way down and go on the way up, on a thread's stack and on main's. */
#include "../torture.h"

enum { DEPTH = 100000, EVERY = 2000 };

__attribute__((noipa)) static long dive(long left)
{
    void *p = left % EVERY ? NULL : keep(malloc((size_t)left % 1000 + 1));
    long below = left ? dive(left - 1) : 0;
    if (p)
        free(p);
    return below + 1;
}

static void *thread(void *unused)
{
    (void)unused;
    CHECK(dive(DEPTH) == DEPTH + 1);
    return NULL;
}

int main(void)
{
    pthread_attr_t attr;
    pthread_t id;
    CHECK(pthread_attr_init(&attr) == 0 && pthread_attr_setstacksize(&attr, 64 << 20) == 0);
    CHECK(pthread_create(&id, &attr, thread, NULL) == 0);
    join_thread(id);
    CHECK(dive(DEPTH) == DEPTH + 1);
    say("deep\n");
    return 0;
}
