/* malloc after RTLD_DEEPBIND by every way to it, each block going by another way than it came, before and after a fork;
 * and the loader still has a name for its address.
 *
 * @flags -ldl
 * @uncounted: with the second recorder behind memlog, some of the ways pass both by
 * @may lose: what they do not see made is released again and again
 */
#include "../loader.h"
#include <gnu/lib-names.h>

typedef void *Alloc(size_t);
typedef void Release(void *);

static void cross(Alloc *alloc, Release *release)
{
    for (size_t size = 1; size < 300000; size = size * 3 + 1) {
        char *block = keep(alloc(size));
        CHECK(block);
        memset(block, 1, size);
        release(block);
    }
}

int main(void)
{
    void *libc = dlopen(LIBC_SO, RTLD_NOW | RTLD_NOLOAD);
    CHECK(libc);
    Alloc *before = (Alloc *)find(libc, "malloc");
    void *early = keep(before(100));
    void *handle = load("plug_small", RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
    Alloc *by_libc = (Alloc *)find(libc, "malloc"), *by_all = (Alloc *)find(RTLD_DEFAULT, "malloc");
    Release *free_by_libc = (Release *)find(libc, "free"), *free_by_all = (Release *)find(RTLD_DEFAULT, "free");
    CHECK(dlsym(libc, "no_such_function") == NULL && dlerror());
    cross(by_libc, free_by_all);
    cross(by_all, free);
    cross(before, free_by_libc);
    cross((Alloc *)find(handle, "plug_alloc"), free);
    cross(malloc, (Release *)find(handle, "plug_release"));
    free(early);
    Dl_info info;
    CHECK(dladdr((void *)by_libc, &info) && info.dli_fname);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        cross(by_libc, free);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(dlclose(handle) == 0);
    say("one malloc\n");
    return 0;
}
