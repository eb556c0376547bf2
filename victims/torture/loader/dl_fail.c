/* dlopen that fails, at every step the loader has: no file, no library, half a library, a symbol that is nowhere. Each
 * leaves messages in memory of the thread's own, and the last undoes a library that was mapped already.
 *
 * @flags -ldl
 */
#include "../loader.h"
#include <fcntl.h>

static void write_file(const char *name, const char *source, size_t size)
{
    static char bytes[5000];
    int in = open(source, O_RDONLY), out = open(name, O_WRONLY | O_CREAT, 0755);
    CHECK(in >= 0 && out >= 0 && read(in, bytes, size) == (ssize_t)size && write(out, bytes, size) == (ssize_t)size);
    CHECK(close(in) == 0 && close(out) == 0);
}

static void *fail(void *argument)
{
    char path[2000];
    plugin_path(path, sizeof path, "plug_lacking");
    for (int i = 0; i < 30; i++) {
        CHECK(!dlopen("./nothing.so", RTLD_NOW) && strstr(dlerror(), "nothing.so"));
        CHECK(!dlopen("./text.so", RTLD_NOW) && strstr(dlerror(), "text.so"));
        CHECK(!dlopen("./half.so", RTLD_NOW) && strstr(dlerror(), "half.so"));
        CHECK(!dlopen(path, RTLD_NOW) && strstr(dlerror(), "function_that_is_nowhere"));
        CHECK(!dlopen("libnothing-at-all.so.7", RTLD_LAZY));
        CHECK(!dlsym(RTLD_DEFAULT, "no_such_name") && strstr(dlerror(), "no_such_name"));
        CHECK(!dlopen("./nothing.so", RTLD_NOW));
        churn(10);
    }
    return argument;
}

int main(void)
{
    char path[2000];
    plugin_path(path, sizeof path, "plug_small");
    write_file("half.so", path, 100);
    write_file("text.so", "/proc/self/environ", 1);
    pthread_t id = start_thread(fail, NULL);
    fail(NULL);
    join_thread(id);
    CHECK(unlink("half.so") == 0 && unlink("text.so") == 0);
    say("nothing could be loaded\n");
    return 0;
}
