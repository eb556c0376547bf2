/* Frees memory behind the log's end: main has returned, and waits for a full pipe to take what it has printed. */
#include "victim.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int ends[2];

static void *late(void *block) {
    struct timespec a_while = {0, 400000000};
    static char piece[4096];
    nanosleep(&a_while, NULL);
    free(block);
    while (read(ends[0], piece, sizeof piece) > 0)
        ;
    return NULL;
}

int main(void) {
    pthread_t thread;
    if (pipe(ends) != 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0)
        return 1;
    while (write(ends[1], "x", 1) == 1)
        ;
    fcntl(ends[1], F_SETFL, 0);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    printf("printed at the end");
    return pthread_create(&thread, NULL, late, keep(malloc(5000)));
}
