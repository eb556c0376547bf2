/* Coroutines that allocate on small stacks of their own: `coroutines [switches=2000] [stack bytes=8192]`.
 *
 * 16 coroutines with mapped stacks, each with a guard page below, take turns: each turn frees the coroutine's block
 * and makes another, two frames down. A recorder that wants much stack dies here. At the end each coroutine's last
 * block is left: 16 blocks of 480 bytes. Prints nothing, exits 0.
 * With s switches: @total allocations=s releases=s-16
 */
#define _GNU_SOURCE
#include "victim.h"
#include <sys/mman.h>
#include <ucontext.h>

enum { ROUTINES = 16, GUARD = 4096 };
static ucontext_t scheduler, routines[ROUTINES];
static void *blocks[ROUTINES];

SITE void *routine_block(void)
{
    void *p = malloc(480); // @site routine_block peak=7680/16 end=7680/16
    return touch(keep(p), 480);
}

SITE void turn(int who)
{
    free(blocks[who]);
    blocks[who] = routine_block();
}

static void routine(int who)
{
    for (;;) {
        turn(who);
        swapcontext(&routines[who], &scheduler);
    }
}

static int make_routine(int who, size_t stack)
{
    char *memory = mmap(NULL, GUARD + stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, GUARD, PROT_NONE) || getcontext(&routines[who]))
        return 0;
    routines[who].uc_stack.ss_sp = memory + GUARD;
    routines[who].uc_stack.ss_size = stack;
    makecontext(&routines[who], (void (*)(void))routine, 1, who);
    return 1;
}

int main(int argc, char **argv)
{
    long switches = number(argc, argv, 1, 2000);
    for (int i = 0; i < ROUTINES; i++)
        if (!make_routine(i, number(argc, argv, 2, 8192)))
            return 1;
    for (long i = 0; i < switches; i++)
        swapcontext(&scheduler, &routines[i % ROUTINES]);
    return 0;
}
