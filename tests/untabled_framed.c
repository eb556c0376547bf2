/* Frame pointers and no tables: called by pointers, from a handler, with room on the stack for what others left there. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noipa, noinline))

static void *volatile keep;
static volatile long zero;
static long size = 100000;
static long (*volatile called)(long);
static long (*volatile deeper)(long);

__attribute__((always_inline)) static inline void block(void) { keep = malloc(size++); free(keep); }

APART static long left_there(long turns)
{
    char room[200];
    keep = memset(room, 1, sizeof room);
    return turns ? deeper(turns - 1) + zero : zero;
}
APART static long little(long number) { block(); return number + zero; }
APART static long much(long number)
{
    char room[5000];
    keep = room;
    block();
    return number + room[zero];
}
APART static long most(long number)
{
    char room[20000];
    keep = room;
    block();
    return number + room[zero];
}
APART static void handler(int signal)
{
    block();
    zero = signal - signal;
}
APART static long round_of(long turn)
{
    long (*const all[])(long) = { little, much, most };
    for (int i = 0; i < 3; i++) {
        deeper(30);
        called = all[i];
        turn += called(turn);
    }
    raise(SIGUSR1);
    return turn;
}
int main(void)
{
    deeper = left_there;
    signal(SIGUSR1, handler);
    for (long turn = 0; turn < 20; turn++)
        keep = (void *)round_of(turn);
    return zero;
}
