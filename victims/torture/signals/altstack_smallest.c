/* A handler allocates on an alternate stack that has room for the kernel's frame and 3 KiB more, with marks at its end. */
#include "../torture.h"

enum { MARKS = 64 };

static void on_signal(int number)
{
    for (int i = 0; i < 100; i++)
        free(keep(realloc(keep(malloc((size_t)number)), 1000)));
}

int main(void)
{
    size_t size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 3072;
    unsigned char *memory = keep(malloc(size + MARKS));
    stack_t stack = {.ss_sp = memory + MARKS, .ss_size = size};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    on_signal(100);
    CHECK(sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    memset(memory, 0xa5, MARKS);
    for (int i = 0; i < 5; i++)
        CHECK(raise(SIGUSR1) == 0);
    for (int i = 0; i < MARKS; i++)
        CHECK(memory[i] == 0xa5);
    say("small\n");
    return 0;
}
