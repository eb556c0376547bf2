/* Blocks come from libc's own malloc, looked up in libc past every preloaded library, and are freed and resized by the
 * visible one: a recorder sees half of each life.
 *
 * @flags -ldl
 * @uncounted: what is called past the recorder it cannot see, nor need the other see the same
 */
#include "../torture.h"
#include <dlfcn.h>

int main(void)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    CHECK(libc);
    void *(*hidden)(size_t);
    *(void **)&hidden = dlsym(libc, "__libc_malloc");
    CHECK(hidden);
    enum { COUNT = 5000 };
    char *blocks[COUNT];
    for (int i = 0; i < COUNT; i++) {
        blocks[i] = keep(hidden(200));
        CHECK(blocks[i]);
        memset(blocks[i], i, 200);
    }
    for (int i = 0; i < COUNT; i++) {
        if (i % 3 == 0) {
            blocks[i] = keep(realloc(blocks[i], 400));
            CHECK(blocks[i]);
        }
        CHECK(blocks[i][199] == (char)i);
        free(blocks[i]);
    }
    dlclose(libc);
    say("half lives\n");
    return 0;
}
