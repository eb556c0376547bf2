/* Locales, time zones and clocks: what libc caches, reads files for and computes is as without a recorder. */
#include "../torture.h"
#include <locale.h>
#include <time.h>

int main(void)
{
    static const char *zones[] = {"UTC0", "CET-1CEST,M3.5.0,M10.5.0/3", "<-0330>3:30", ":/nonexistent", "EST5EDT"};
    char text[100];
    time_t then = 1234567890;
    struct timespec before, after;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &before) == 0);
    for (int i = 0; i < 50; i++) {
        CHECK(setenv("TZ", zones[i % 5], 1) == 0);
        tzset();
        CHECK(setlocale(LC_ALL, i % 2 ? "C" : "C.UTF-8") || i % 2 == 0);
        churn(200);
        struct tm *local = localtime(&then);
        CHECK(local && strftime(text, sizeof text, "%c %z", local));
        if (i < 5)
            say("%s %.2f\n", text, 1.5);
    }
    CHECK(clock_gettime(CLOCK_MONOTONIC, &after) == 0);
    CHECK(after.tv_sec > before.tv_sec || (after.tv_sec == before.tv_sec && after.tv_nsec >= before.tv_nsec));
    clockid_t own;
    CHECK(clock_getcpuclockid(0, &own) == 0 && clock_gettime(own, &after) == 0);
    CHECK(setlocale(LC_ALL, "xx_YY") == NULL);
    struct timespec nap = {0, 1000000};
    CHECK(clock_nanosleep(CLOCK_REALTIME, 0, &nap, NULL) == 0);
    return 0;
}
