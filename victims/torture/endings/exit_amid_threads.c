/* The process ends amid threads that allocate, in each of the ways there are, which main or another
 * thread of a child takes; at last amid a hundred.
 *
 * @may lack: a raw system call and quick_exit are not seen
 * @uncounted: the second recorder has no word for a call that never came to its end
 */
#include "../torture.h"
#include <sys/syscall.h>

static int gate[2];

static void *busy(void *nothing)
{
    char byte;
    CHECK(read(gate[0], &byte, 1) == 0);
    for (;;)
        churn(50);
    return nothing;
}

static void start(int threads)
{
    CHECK(pipe(gate) == 0);
    for (int i = 0; i < threads; i++)
        start_thread(busy, NULL);
    CHECK(close(gate[1]) == 0);
    churn(50);
}

static void end(int way)
{
    switch (way) {
    case 0: exit(way);
    case 1: _exit(way);
    case 2: _Exit(way);
    case 3: quick_exit(way);
    case 4: syscall(SYS_exit_group, way);
    }
    CHECK(!"an end");
}

static void *ends(void *way)
{
    end((int)(intptr_t)way);
    return NULL;
}

int main(void)
{
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            start(20);
            if (i < 5)
                end(i);
            join_thread(start_thread(ends, (void *)(intptr_t)(i - 5)));
        }
        CHECK(status_of(child) == i % 5);
    }
    say("ten ends\n");
    start(100);
    return 3;
}
