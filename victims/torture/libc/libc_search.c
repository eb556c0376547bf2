/* tsearch, hsearch and qsort: the sort of a large array allocates when it is small enough and not when it is larger, and
 * its comparison allocates, or leaves by longjmp, so that the sort's own block is never freed.
 */
#include "../torture.h"
#include <search.h>
#include <setjmp.h>

struct item {
    int key;
    char rest[60];
};
static jmp_buf out;
static int leave_at, compared;

static int compare(const void *a, const void *b)
{
    if (++compared == leave_at)
        longjmp(out, 1);
    if (compared % 100 == 0)
        churn(5);
    return ((const struct item *)a)->key - ((const struct item *)b)->key;
}

int main(void)
{
    enum { COUNT = 2000 };
    struct item *items = (struct item *)keep(calloc(COUNT, sizeof *items));
    CHECK(items);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < COUNT; i++)
            items[i].key = i * 1237 % COUNT;
        leave_at = round % 2 ? 500 : 0;
        compared = 0;
        if (!setjmp(out))
            qsort(items, COUNT, sizeof *items, compare);
        CHECK(round % 2 || (items[0].key == 0 && items[COUNT - 1].key == COUNT - 1));
    }
    leave_at = 0;
    void *root = NULL;
    for (int i = 0; i < 500; i++) {
        struct item *item = (struct item *)keep(malloc(sizeof *item));
        item->key = i * 37 % 250;
        struct item **found = (struct item **)tsearch(item, &root, compare);
        CHECK(found);
        if (*found != item)
            free(item);
    }
    tdestroy(root, free);
    struct hsearch_data table = {0};
    CHECK(hcreate_r(300, &table));
    ENTRY *entry;
    for (int i = 0; i < 200; i++) {
        char *key = NULL;
        CHECK(asprintf(&key, "key%d", i) > 0);
        CHECK(hsearch_r((ENTRY){key, key}, ENTER, &entry, &table) && entry->data == key);
    }
    for (int i = 0; i < 200; i++) {
        char key[20];
        snprintf(key, sizeof key, "key%d", i);
        CHECK(hsearch_r((ENTRY){key, NULL}, FIND, &entry, &table));
        free(entry->data);
    }
    hdestroy_r(&table);
    free(items);
    say("sorted\n");
    return 0;
}
