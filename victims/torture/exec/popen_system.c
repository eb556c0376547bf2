/* Shells by popen and system, from threads while others allocate.
 *
 * @may lack: what the shells start is gone at once
 */
#include "../torture.h"

static volatile int stop;

static void *shells(void *nothing)
{
    for (int i = 0; i < 4; i++) {
        char line[64] = "";
        FILE *reads = popen("echo to be read; exit 5", "r");
        CHECK(reads && fgets(line, sizeof line, reads) && !strcmp(line, "to be read\n"));
        FILE *writes = popen("read a && test \"$a\" = written", "w");
        CHECK(writes && fputs("written\n", writes) >= 0);
        CHECK(pclose(writes) == 0);
        int status = pclose(reads);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
        status = system("(exit 3) || exit 4");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 4);
        status = system("kill -9 $$");
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    return nothing;
}

static void *busy(void *nothing)
{
    while (!stop)
        churn(50);
    return nothing;
}

int main(void)
{
    if (!system(NULL))
        skip("no shell");
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = start_thread(i < 2 ? busy : shells, NULL);
    join_thread(threads[2]);
    join_thread(threads[3]);
    stop = 1;
    join_thread(threads[0]);
    join_thread(threads[1]);
    say("shells ran\n");
    return 0;
}
