/* A coroutine goes on after the stack it was started from was unmapped, in a thread that has ended: whoever follows frames or
 * contexts back to the starter reads what is not there. */
#include "../torture.h"
#include <sys/mman.h>
#include <ucontext.h>

enum { SIZE = 64 * 1024 };
static ucontext_t starter, routine, taker;
static char stack[SIZE];
static int turns;

static void run(void)
{
    void *p = keep(malloc(100));
    swapcontext(&routine, &starter);
    for (;;) {
        free(p);
        p = keep(malloc(100));
        churn(20);
        turns++;
        swapcontext(&routine, &taker);
    }
}

static void *starts(void *unused)
{
    CHECK(getcontext(&routine) == 0);
    routine.uc_stack.ss_sp = stack;
    routine.uc_stack.ss_size = SIZE;
    routine.uc_link = &starter;
    makecontext(&routine, run, 0);
    CHECK(swapcontext(&starter, &routine) == 0);
    return unused;
}

int main(void)
{
    for (int i = 0; i < 10; i++) {
        pthread_attr_t attr;
        pthread_t id;
        void *mapped = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(mapped != MAP_FAILED && pthread_attr_init(&attr) == 0);
        CHECK(pthread_attr_setstack(&attr, mapped, SIZE) == 0);
        CHECK(pthread_create(&id, &attr, starts, NULL) == 0);
        join_thread(id);
        CHECK(munmap(mapped, SIZE) == 0);
        for (int turn = 0; turn < 5; turn++)
            CHECK(swapcontext(&taker, &routine) == 0);
    }
    say("%d turns\n", turns);
    return 0;
}
