/* stackfuzz: handlers that allocate, on the normal and on the alternate stack, nested, left by jumps, and at every single
 * instruction of a function; and a timer's.
 */
#define _GNU_SOURCE
#include "stackfuzz.h"
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

enum { ALTERNATE = 256 * 1024 };

/* For whom a handler works. */
static __thread struct fuzz *handled __attribute__((tls_model("initial-exec")));
static __thread int handled_depth __attribute__((tls_model("initial-exec")));
static __thread char *alternate __attribute__((tls_model("initial-exec")));

SITE static void handle(struct fuzz *f, int depth)
{
    turn(f);
    go(f, depth);
    turn(f);
}

static void on_normal(int signal)
{
    (void)signal;
    handle(handled, handled_depth);
}

static void on_alternate(int signal)
{
    (void)signal;
    struct fuzz *f = handled;
    char *low = f->now.stack_low;
    f->now.stack_low = alternate;
    f->now.has_alternate = 0;
    handle(f, handled_depth);
    f->now.stack_low = low;
    f->now.has_alternate = 1;
}

/* What a handler throws nobody catches, and who yields on an alternate stack loses it. */
SITE static void raising(struct fuzz *f, int depth, int signal)
{
    struct limits was = f->now;
    f->now.catchers = 0;
    if (signal == SIGUSR2)
        f->now.coroutine = NULL;
    handled = f;
    handled_depth = depth;
    raise(signal);
    f->now = was;
}

SITE static void normally(struct fuzz *f, int depth)
{
    raising(f, depth, SIGUSR1);
}

SITE static void alternately(struct fuzz *f, int depth)
{
    raising(f, depth, f->now.has_alternate ? SIGUSR2 : SIGUSR1);
}

/* Where malloc may be under way, the handler asks the kernel for memory: memlog takes a stack of that as well. */
static void on_timer(int signal)
{
    (void)signal;
    if (may_allocate) {
        may_allocate = 0;
        free(keep(malloc(EITHER_SIZE)));
        may_allocate = 1;
        return;
    }
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page, 4096);
}

#ifdef __x86_64__
void sf_step_on(void);
void sf_step_off(void);

static __thread struct fuzz stepper __attribute__((tls_model("initial-exec")));

static __thread volatile int is_in_malloc, steps_left __attribute__((tls_model("initial-exec")));

static void on_step(int signal)
{
    (void)signal;
    if (is_in_malloc) {
        if (steps_left-- <= 0)
            on_timer(0);
        return;
    }
    turn(&stepper);
    if (below(&stepper, 8) == 0)
        handle(&stepper, 0);
}

SITE static void stepping(struct fuzz *f, int depth)
{
    technique *run = pure(f);
    if (!run || f->marked)
        return go(f, depth);
    stepper.random = f->random;
    stepper.left = 1 << 20;
    f->is_stepped = 1;
    sf_step_on();
    run(f, 3);
    sf_step_off();
    f->is_stepped = 0;
    f->left -= (1 << 20) - stepper.left;
    finish(&stepper);
    memset(stepper.blocks, 0, sizeof stepper.blocks);
    go(f, depth);
}

static void *stepped_thread(void *argument)
{
    is_in_malloc = 1;
    steps_left = *(int *)argument;
    for (int i = 0; i < 3; i++) {
        sf_step_on();
        void *p = keep(malloc(100));
        sf_step_off();
        free(p);
    }
    return NULL;
}

/* Stops at each instruction of a thread's first calls of malloc, the recorder's among them. The handler asks for nothing
 * before some of them have passed, for its own call would be the thread's first.
 */
SITE static void stepping_into_malloc(struct fuzz *f, int depth)
{
    struct limits was = bar(f);
    pthread_t id;
    int steps = (int)below(f, 3000);
    if (!pthread_create(&id, NULL, stepped_thread, &steps))
        pthread_join(id, NULL);
    go(f, depth);
    f->now = was;
}
#endif

static void on(int signal, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags | SA_RESTART};
    sigaction(signal, &action, NULL);
}

void signals_begin(void)
{
    on(SIGUSR1, on_normal, SA_NODEFER);
    on(SIGUSR2, on_alternate, SA_NODEFER | SA_ONSTACK);
    on(SIGALRM, on_timer, 0);
#ifdef __x86_64__
    on(SIGTRAP, on_step, SA_NODEFER);
#endif
}

/* One signal in a while. Not by an interval: where handlers take longer than that nothing else would run. */
void signals_soon(int is_wanted)
{
    const struct itimerval when = {{0, 0}, {0, is_wanted ? 300 : 0}};
    setitimer(ITIMER_REAL, &when, NULL);
}

void signals_of_thread(int begins)
{
    if (begins)
        alternate = mmap(NULL, ALTERNATE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const stack_t stack = {.ss_sp = alternate, .ss_size = ALTERNATE, .ss_flags = begins ? 0 : SS_DISABLE};
    sigaltstack(&stack, NULL);
    if (!begins)
        munmap(alternate, ALTERNATE);
}

const struct choice signal_entries[] = {
    {"raise", normally, 20, 0},
    {"alternate", alternately, 20, 0},
#ifdef __x86_64__
    {"step", stepping, 4, 0},
    {"stepin", stepping_into_malloc, 1, ASKED},
#endif
    {NULL, NULL, 0, 0},
};
