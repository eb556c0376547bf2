/* The main thread ends alone, by pthread_exit or by the bare system call, and the process goes on without it: its threads
 * allocate and fork, and the last of them ends it, by returning or by exit. */
#include "../torture.h"
#include <sys/syscall.h>

static int way;
static void *of_main;

static void handler(void)
{
    churn(40);
    say("way %d\n", way);
}

/* The state of the main thread, which is a zombie when it has ended. */
static char state_of_main(void)
{
    char path[64], line[300], *name_end;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    FILE *file = fopen(path, "re");
    CHECK(file && fgets(line, sizeof line, file) && (name_end = strrchr(line, ')')));
    fclose(file);
    return name_end[2];
}

static void *goes_on(void *nothing)
{
    while (state_of_main() != 'Z')
        usleep(500);
    free(of_main);
    churn(100);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        churn(100);
        _exit(9);
    }
    CHECK(status_of(child) == 9);
    if (way / 2)
        exit(10 + way);
    return nothing;
}

int main(void)
{
    for (way = 0; way < 4; way++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            CHECK(atexit(handler) == 0);
            of_main = keep(malloc(4000));
            start_thread(goes_on, NULL);
            if (way % 2)
                syscall(SYS_exit, 10 + way);
            pthread_exit(NULL);
        }
        int status = status_of(child);
        /* Old kernels answer for the main thread, newer ones for the last. */
        CHECK(status == (way ? 10 + way : 0) || (way == 1 && status == 0));
    }
    return 0;
}
