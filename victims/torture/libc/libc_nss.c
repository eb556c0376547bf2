/* Users, groups, services and numeric addresses: libc loads the modules that nsswitch.conf names, at the first look-up, in
 * whichever thread makes it, and keeps lists of what it read.
 */
#include "../torture.h"
#include <arpa/inet.h>
#include <grp.h>
#include <netdb.h>
#include <pwd.h>

static void *work(void *argument)
{
    for (int i = 0; i < 15; i++) {
        char room[4000];
        struct passwd user, *found = NULL;
        CHECK(getpwnam_r("root", &user, room, sizeof room, &found) == 0);
        CHECK(!found || user.pw_uid == 0);
        struct group group, *known = NULL;
        CHECK(getgrgid_r(0, &group, room, sizeof room, &known) == 0);
        CHECK(getpwnam_r("no-such-user-here", &user, room, sizeof room, &found) != EINVAL && !found);
        struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM}, *list;
        CHECK(getaddrinfo("127.0.0.1", "80", &hints, &list) == 0 && list->ai_family == AF_INET);
        freeaddrinfo(list);
        CHECK(getaddrinfo("::1", "443", &hints, &list) == 0 && list->ai_family == AF_INET6);
        freeaddrinfo(list);
        CHECK(getaddrinfo("not numeric", "80", &hints, &list) == EAI_NONAME);
        churn(10);
    }
    return argument;
}

int main(void)
{
    pthread_t id = start_thread(work, NULL);
    work(NULL);
    join_thread(id);
    setpwent();
    int users = 0;
    while (getpwent())
        users++;
    endpwent();
    gid_t groups[100];
    int count = 100;
    CHECK(users >= 0 && getgrouplist("root", 0, groups, &count) >= 0);
    say("looked up\n");
    return 0;
}
