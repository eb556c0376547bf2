/* No new privileges, the herald of a filter that never comes: events go on, in threads that came before and after, in children
 * and after exec too.
 */
#include "../torture.h"
#include <sys/prctl.h>

enum { EARLY = 4 };
static pthread_barrier_t given_up;

static void *work(void *is_early)
{
    if (is_early)
        pthread_barrier_wait(&given_up);
    churn(5000);
    return is_early;
}

int main(int argc, char **argv)
{
    (void)argv;
    churn(100);
    pthread_t early[EARLY];
    CHECK(pthread_barrier_init(&given_up, NULL, EARLY + 1) == 0);
    for (int i = 0; i < EARLY; i++)
        early[i] = start_thread(work, &given_up);
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    pthread_barrier_wait(&given_up);
    for (int i = 0; i < EARLY; i++)
        join_thread(early[i]);
    churn(20000);
    join_thread(start_thread(work, NULL));
    CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
    if (argc > 1)
        return 0;
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        churn(2000);
        execl("/proc/self/exe", "proc_no_new_privs", "again", NULL);
        _exit(96);
    }
    CHECK(status_of(child) == 0);
    say("no new privileges\n");
    return 0;
}
