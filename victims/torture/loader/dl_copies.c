/* One plugin under forty copies of its file, loaded at once and unloaded in another order: forty modules with one
 * build id, whose files are gone while their code still runs.
 *
 * @flags -ldl
 */
#include "../loader.h"
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

enum { COPIES = 40 };

static void copy(const char *from, const char *to)
{
    int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    CHECK(in >= 0 && out >= 0);
    struct stat about;
    CHECK(fstat(in, &about) == 0);
    CHECK(sendfile(out, in, NULL, (size_t)about.st_size) == about.st_size);
    CHECK(close(in) == 0 && close(out) == 0);
}

int main(void)
{
    char path[2000], name[64];
    plugin_path(path, sizeof path, "plug_small");
    void *handles[COPIES], *blocks[COPIES];
    for (int i = 0; i < COPIES; i++) {
        snprintf(name, sizeof name, "./copy%d.so", i);
        copy(path, name);
        handles[i] = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        CHECK(handles[i]);
        CHECK(unlink(name) == 0);
    }
    for (int i = 0; i < COPIES; i++) {
        int which = i * 17 % COPIES;
        void *(*alloc)(size_t) = (void *(*)(size_t))find(handles[which], "plug_alloc");
        blocks[which] = alloc((size_t)which + 1);
    }
    for (int i = 0; i < COPIES; i++) {
        int which = i * 23 % COPIES;
        void (*release)(void *) = (void (*)(void *))find(handles[which], "plug_release");
        release(blocks[COPIES - 1 - which]);
        CHECK(dlclose(handles[which]) == 0);
    }
    say("%d copies\n", COPIES);
    return 0;
}
