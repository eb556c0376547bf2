/* posix_spawn with actions on files and attributes, from threads while others allocate; and of what is not there. */
#include "../torture.h"
#include <fcntl.h>
#include <spawn.h>

static char *const again[] = {(char *)"spawn_actions", (char *)"child", NULL};
static volatile int stop;

static void *spawns(void *nothing)
{
    for (int i = 0; i < 5; i++) {
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        sigset_t all;
        pid_t child = -1;
        sigfillset(&all);
        CHECK(posix_spawn_file_actions_init(&actions) == 0 && posix_spawnattr_init(&attributes) == 0);
        for (int fd = 40; fd < 80; fd++)
            CHECK(posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0) == 0);
        CHECK(posix_spawn_file_actions_adddup2(&actions, 41, 9) == 0);
        CHECK(posix_spawn_file_actions_addclose(&actions, 79) == 0);
        CHECK(posix_spawn_file_actions_addchdir_np(&actions, "/") == 0);
        CHECK(posix_spawnattr_setsigmask(&attributes, &all) == 0 && posix_spawnattr_setsigdefault(&attributes, &all) == 0);
        CHECK(posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) == 0);
        CHECK(posix_spawn(&child, "/proc/self/exe", &actions, &attributes, again, environ) == 0);
        CHECK(posix_spawn(&(pid_t){0}, "/nowhere", &actions, &attributes, again, environ) == ENOENT);
        CHECK(posix_spawnp(&(pid_t){0}, "no-such-program", &actions, NULL, again, environ) == ENOENT);
        CHECK(posix_spawn_file_actions_destroy(&actions) == 0 && posix_spawnattr_destroy(&attributes) == 0);
        CHECK(status_of(child) == 17);
    }
    return nothing;
}

static void *busy(void *nothing)
{
    while (!stop)
        churn(50);
    return nothing;
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        churn(30);
        CHECK(fcntl(9, F_GETFD) == 0 && fcntl(78, F_GETFD) == 0 && fcntl(79, F_GETFD) < 0);
        return 17;
    }
    pthread_t threads[5];
    for (int i = 0; i < 5; i++)
        threads[i] = start_thread(i < 2 ? busy : spawns, NULL);
    for (int i = 2; i < 5; i++)
        join_thread(threads[i]);
    stop = 1;
    join_thread(threads[0]);
    join_thread(threads[1]);
    say("spawned\n");
    return 0;
}
