/* No new privileges, the herald of a filter that never comes: events go on, in threads and children and after exec too.
 *
 * @may lack: a child forked after the herald keeps still, for its filter may kill
 * @may lose: the new thread has nowhere to write, for its chunk takes a call that may kill
 * @uncounted: what is lost is missing
 */
#include "torture.h"
#include <sys/prctl.h>

static void *work(void *nothing)
{
    churn(5000);
    return nothing;
}

int main(int argc, char **argv)
{
    (void)argv;
    churn(100);
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
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
