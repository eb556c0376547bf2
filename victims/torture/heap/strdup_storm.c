/* Two hundred thousand strdups and strndups of many lengths, of wide strings too, half of them never freed. */
#include "../torture.h"
#include <wchar.h>

int main(void)
{
    static char text[300];
    static wchar_t wide[100];
    memset(text, 'x', sizeof text - 1);
    wmemset(wide, L'y', 99);
    size_t sum = 0;
    for (size_t i = 0; i < 200000; i++) {
        char *p = keep(i % 5 ? strdup(text + i % 299) : strndup(text, i % 299));
        CHECK(p);
        sum += strlen(p);
        if (i % 2)
            free(p);
        if (i % 10 == 0) {
            wchar_t *w = keep(wcsdup(wide + i % 99));
            CHECK(w);
            sum += wcslen(w);
            free(w);
        }
    }
    say("%zu characters\n", sum);
    return 0;
}
