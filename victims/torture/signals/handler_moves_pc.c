/* A handler of SIGSEGV allocates and sets the program counter past the faulting instruction, as runtimes do that check for null
 * by faults: what was interrupted never goes on where it was. */
#include "../torture.h"
#include <ucontext.h>

#ifdef __x86_64__
static int handled;

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    free(keep(malloc(60)));
    churn(10);
    handled++;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 3; /* the load's length */
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = 42;
}

__attribute__((noipa)) static long load(long *from)
{
    long value;
    __asm__ volatile("movq (%%rdi), %%rax" : "=a"(value) : "D"(from) : "memory");
    return value;
}
#endif

int main(void)
{
#ifdef __x86_64__
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    long seven = 7;
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
    for (int i = 0; i < 200; i++) {
        CHECK(load(NULL) == 42 && load(&seven) == 7);
        churn(10);
    }
    say("%d faults\n", handled);
    return 0;
#else
    skip("the instruction is x86_64's");
#endif
}
