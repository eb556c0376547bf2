/* Handlers that allocate: of signals that the program sends itself, and of a timer that finds it in a leaf function
 * without a frame; on the ordinary stack, on an alternate one, nested, and left by siglongjmp. */
#include "seen.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

enum { TICKS = 25 };
static volatile sig_atomic_t handled, ticks, depth;
static sigjmp_buf back;

static void handler(int number)
{
    free(seen_in_handler());
    handled++;
    if (number == SIGUSR1 && depth++ < 2)
        raise(SIGUSR2);
}

static void tick(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    if (ticks == TICKS) /* one too many would be another allocation in each run */
        return;
    free(seen_in_handler());
    ticks++;
}

static void jumper(int number)
{
    (void)number;
    free(seen_in_handler());
    siglongjmp(back, 1);
}

/* Leaves: the return address may be in a register only, and the timer finds them anywhere. */
SITE static unsigned long leaf(unsigned long value)
{
    for (int i = 0; i < 2000; i++)
        value = value * 2862933555777941757ul + 3037000493ul;
    return value;
}

/* One with a frame, and a leaf so short that its first and last instructions are hit as well. */
SITE static unsigned long tiny(unsigned long value)
{
    __asm__ volatile("");
    return value + 1;
}

SITE static unsigned long framed(unsigned long value)
{
    volatile unsigned long words[40];
    for (int i = 0; i < 40; i++)
        words[i] = tiny(value + i);
    return words[value % 40];
}

SITE static void spin(void)
{
    unsigned long value = 1;
    for (ticks = 0; ticks < TICKS;)
        value = framed(leaf(value));
    __asm__ volatile("" : : "r"(value));
}

static void on(int number, void (*to)(int), int flags)
{
    struct sigaction action = { 0 };
    action.sa_handler = to;
    action.sa_flags = flags;
    sigaction(number, &action, NULL);
}

int main(void)
{
    static char stack[256 * 1024];
    stack_t alternate = { .ss_sp = stack, .ss_size = sizeof stack };
    struct sigaction action = { 0 };
    struct itimerval often = { { 0, 3000 }, { 0, 3000 } }, never = { { 0, 0 }, { 0, 0 } };

    seen_begin();
    on(SIGUSR1, handler, 0);
    on(SIGUSR2, handler, 0);
    raise(SIGUSR1);
    say("on the stack:", handled);

    sigaltstack(&alternate, NULL);
    on(SIGUSR1, handler, SA_ONSTACK);
    handled = depth = 0;
    raise(SIGUSR1);
    say("on the alternate stack:", handled);

    on(SIGUSR2, jumper, SA_ONSTACK);
    for (volatile int i = 0; i < 5; i++)
        if (sigsetjmp(back, 1) == 0)
            raise(SIGUSR2);
    say("jumped:", 5);
    free(seen());

    action.sa_sigaction = tick;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (int with = 0; with < 2; with++) {
        sigaction(SIGALRM, &action, NULL);
        setitimer(ITIMER_REAL, &often, NULL);
        spin();
        setitimer(ITIMER_REAL, &never, NULL);
        action.sa_flags |= SA_ONSTACK;
    }
    free(seen());
    say("ticked:", 2);
    return 0;
}
