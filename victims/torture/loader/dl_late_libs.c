/* Libraries like those of libc come late: libm, the stubs of old libraries, libnss, libgcc_s, libstdc++ for a program
 * that has no C++, whose operators are then called by name.
 *
 * @flags -ldl
 */
#include "../loader.h"

int main(void)
{
    static const char *const names[] = {"libm.so.6",         "libpthread.so.0", "librt.so.1",     "libdl.so.2",
                                        "libnss_files.so.2", "libresolv.so.2",  "libgcc_s.so.1",  "libutil.so.1",
                                        "libc.so.6",         "libanl.so.1",     "libnss_dns.so.2"};
    for (int i = 0; i < 44; i++) {
        void *handle = dlopen(names[i % 11], i % 2 ? RTLD_NOW : RTLD_LAZY);
        churn(10);
        if (handle)
            CHECK(dlclose(handle) == 0);
    }
    void *math = dlopen("libm.so.6", RTLD_NOW);
    CHECK(math && ((double (*)(double))find(math, "floor"))(3.75) == 3.0);
    void *cxx = dlopen("libstdc++.so.6", RTLD_NOW);
    if (!cxx)
        skip("no libstdc++");
    void *(*make)(size_t) = (void *(*)(size_t))find(cxx, "_Znwm");
    void (*end)(void *) = (void (*)(void *))find(cxx, "_ZdlPv");
    for (int i = 0; i < 100; i++) {
        end(memset(make(50), i, 50));
        free(make(60));
        end(malloc(70));
    }
    say("late\n");
    return 0;
}
