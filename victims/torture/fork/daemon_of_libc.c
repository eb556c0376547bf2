/* A daemon, forked twice and in a session of its own, goes on after its parents ended; the last end of a pipe tells when
 * it is gone. Here libc's daemon() does the second fork and the _exit of the process between, by its internal names;
 * what the daemon inherited is in the log of that process. */
#include "../torture.h"

int main(void)
{
    int news[2];
    char byte = 0;
    void *inherited = keep(malloc(1234));
    CHECK(pipe(news) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        churn(50);
        CHECK(close(news[0]) == 0 && setsid() > 0);
        CHECK(daemon(1, 1) == 0);
        free(inherited);
        churn(300);
        CHECK(write(news[1], "d", 1) == 1);
        exit(0);
    }
    CHECK(close(news[1]) == 0);
    CHECK(status_of(child) == 0);
    CHECK(read(news[0], &byte, 1) == 1 && byte == 'd');
    CHECK(read(news[0], &byte, 1) == 0);
    free(inherited);
    say("the daemon is gone\n");
    return 0;
}
