/* Locales: setlocale frees names that an earlier call made, newlocale maps files, and each thread has one of its own, with
 * tables for the C.UTF-8 conversion that come at the first wide character.
 */
#include "../torture.h"
#include <langinfo.h>
#include <libintl.h>
#include <locale.h>
#include <time.h>
#include <wchar.h>

static void *work(void *argument)
{
    for (int i = 0; i < 50; i++) {
        locale_t own = newlocale(LC_ALL_MASK, i % 2 ? "C.UTF-8" : "C", (locale_t)0);
        CHECK(own);
        locale_t copy = duplocale(own), before = uselocale(copy);
        wchar_t wide[20];
        CHECK(!strcmp(nl_langinfo(CODESET), i % 2 ? "UTF-8" : "ANSI_X3.4-1968"));
        CHECK(mbstowcs(wide, "\xc3\xa4x", 20) == (i % 2 ? 2u : (size_t)-1));
        CHECK(!newlocale(LC_ALL_MASK, "xx_XX.nothing", (locale_t)0));
        struct tm day = {.tm_year = 100, .tm_mday = 1};
        char text[100];
        CHECK(strftime(text, sizeof text, "%A %d %B", &day) > 10);
        uselocale(before);
        freelocale(copy);
        freelocale(own);
        churn(10);
    }
    return argument;
}

int main(void)
{
    if (!setlocale(LC_ALL, "C.UTF-8"))
        skip("no locale C.UTF-8");
    pthread_t id = start_thread(work, NULL);
    work(NULL);
    join_thread(id);
    for (int i = 0; i < 50; i++) {
        CHECK(setlocale(LC_ALL, i % 2 ? "C" : "C.UTF-8") && !setlocale(LC_ALL, "nowhere"));
        CHECK(setlocale(LC_CTYPE, "POSIX") && setlocale(LC_ALL, NULL));
        CHECK(bindtextdomain("torture", ".") && !strcmp(dgettext("torture", "word"), "word"));
    }
    say("locales\n");
    return 0;
}
