/* Handlers on alternate stacks allocate: one stack in the middle of the heap, one in static memory, one mapped, and each in
 * several threads that have no relation to it otherwise. */
#include "../torture.h"
#include <sys/mman.h>

enum { SIZE = 65536 };
static __thread int handled;
static char fixed[4][SIZE];

static void on_signal(int number)
{
    (void)number;
    free(keep(malloc(100)));
    free(keep(calloc(100, 100)));
    handled++;
}

static void *thread(void *which)
{
    int me = (int)(intptr_t)which;
    void *mapped = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *block = keep(malloc(SIZE)), *places[] = {block, fixed[me], mapped};
    CHECK(mapped != MAP_FAILED);
    for (int i = 0; i < 30; i++) {
        stack_t stack = {.ss_sp = places[i % 3], .ss_size = SIZE}, none = {.ss_flags = SS_DISABLE};
        CHECK(sigaltstack(&stack, NULL) == 0);
        CHECK(raise(SIGUSR1) == 0 && handled == i + 1);
        churn(20);
        CHECK(sigaltstack(&none, NULL) == 0);
    }
    free(block);
    CHECK(munmap(mapped, SIZE) == 0);
    return NULL;
}

int main(void)
{
    pthread_t ids[4];
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (int i = 0; i < 4; i++)
        ids[i] = start_thread(thread, (void *)(intptr_t)i);
    for (int i = 0; i < 4; i++)
        join_thread(ids[i]);
    say("three kinds of stacks\n");
    return 0;
}
