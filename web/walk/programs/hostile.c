/* A function and a thread whose names are markup. Prints nothing, exits 0. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static void *volatile kept[200];

/* The assembler takes any name in quotes. Nearly all of it is main's: what many call is passed over. */
__attribute__((noinline)) void hostile(int count) __asm__("\"<script>alert(1)</script><img src=x onerror=alert(2)>&'\"");
void hostile(int count)
{
    static int next;
    for (int i = 0; i < count; i++)
        kept[next++] = malloc(10000);
}

static void *run(void *nothing)
{
    prctl(PR_SET_NAME, "<b>'\"&\x01\xff");
    hostile(5);
    return nothing;
}

int main(void)
{
    pthread_t thread;
    /* So that it has a course: at its start there is nothing. */
    usleep(20000);
    hostile(100);
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
    return 0;
}
