/* iconv loads modules of its own, which allocate in their constructors, and unloads those unused for long: libraries that
 * come and go without any dlopen or dlclose of the program's.
 */
#include "../torture.h"
#include <iconv.h>

static void *work(void *argument)
{
    static const char *const names[] = {"ISO-8859-15", "UTF-16LE", "EUC-JP", "CP1252", "KOI8-R", "SHIFT_JIS", "UTF-7", "BIG5", "IBM037"};
    for (int i = 0; i < 60; i++) {
        iconv_t there = iconv_open(names[i % 9], "UTF-8"), back = iconv_open("UTF-8", names[i % 9]);
        CHECK(there != (iconv_t)-1 && back != (iconv_t)-1);
        char in[] = "plain words 123", middle[200], out[200], *from = in, *to = middle;
        size_t left = strlen(in), room = sizeof middle;
        CHECK(iconv(there, &from, &left, &to, &room) == 0 && iconv(there, NULL, NULL, &to, &room) == 0);
        left = (size_t)(to - middle), room = sizeof out, from = middle, to = out;
        CHECK(iconv(back, &from, &left, &to, &room) == 0);
        CHECK(to - out == (long)strlen(in) && !memcmp(in, out, strlen(in)));
        CHECK(iconv_close(there) == 0 && iconv_close(back) == 0);
        CHECK(iconv_open("NO-SUCH-SET", "UTF-8") == (iconv_t)-1 && errno == EINVAL);
        churn(10);
    }
    return argument;
}

int main(void)
{
    iconv_t probe = iconv_open("EUC-JP", "UTF-8");
    if (probe == (iconv_t)-1)
        skip("no gconv modules");
    CHECK(iconv_close(probe) == 0);
    pthread_t id = start_thread(work, NULL);
    work(NULL);
    join_thread(id);
    say("converted\n");
    return 0;
}
