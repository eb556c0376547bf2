/* The program moves the break itself, between mallocs that use it too; what it takes stays its own.
 */
#include "../torture.h"

int main(void)
{
    enum { TAKEN = 12 };
    char *own[TAKEN];
    void *held[TAKEN];
    for (int i = 0; i < TAKEN; i++) {
        own[i] = sbrk(10000);
        CHECK(own[i] != (void *)-1);
        memset(own[i], i, 10000);
        held[i] = keep(malloc(50000));
        CHECK(held[i]);
        memset(held[i], 0xff, 50000);
    }
    for (int i = 0; i < TAKEN; i++) {
        CHECK(own[i][0] == i && own[i][9999] == i);
        free(held[i]);
    }
    char *end = sbrk(0);
    CHECK(sbrk(4096 * 10) == end && brk(end) == 0 && sbrk(0) == end);
    CHECK(brk(end + 5000) == 0 && sbrk(-5000) == end + 5000 && sbrk(0) == end);
    volatile intptr_t most = INTPTR_MAX, least = INTPTR_MIN;
    errno = 0;
    CHECK(sbrk(most) == (void *)-1 && errno == ENOMEM);
    errno = 0;
    CHECK(sbrk(least) == (void *)-1 && errno == ENOMEM);
    errno = 0;
    CHECK(brk((void *)(uintptr_t)SIZE_MAX) == -1 && errno == ENOMEM && sbrk(0) == end);
    churn(1000);
    say("the break is shared\n");
    return 0;
}
