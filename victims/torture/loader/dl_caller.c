/* dlopen looks at who called it: at the RUNPATH and the namespace of the library that it will return to.
 *
 * @flags -ldl
 */
#include "../loader.h"

int main(void)
{
    /* A bare name is found by the plugin's RUNPATH, and by nobody else's. */
    CHECK(dlopen("plug_tls.so", RTLD_NOW) == NULL && dlerror());
    for (int i = 0; i < 4; i++) {
        int deep = i % 2 ? RTLD_DEEPBIND : 0;
        void *opener = load("plug_opens", RTLD_NOW | RTLD_LOCAL | deep);
        void *(*open_by)(const char *, int) = (void *(*)(const char *, int))find(opener, "plug_open");
        void *found = open_by("plug_tls.so", RTLD_NOW | (i / 2 ? RTLD_DEEPBIND : 0));
        CHECK(found);
        CHECK(open_by("no_such_library.so", RTLD_LAZY) == NULL && dlerror());
        CHECK(open_by(NULL, RTLD_LAZY));
        churn(50);
        CHECK(dlclose(found) == 0 && dlclose(opener) == 0);
    }
    char path[2000];
    plugin_path(path, sizeof path, "plug_opens");
    void *apart = dlmopen(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL);
    CHECK(apart);
    void *(*open_by)(const char *, int) = (void *(*)(const char *, int))find(apart, "plug_open");
    void *found = open_by("plug_tls.so", RTLD_NOW);
    CHECK(found);
    Lmid_t one = -1, other = -2;
    CHECK(dlinfo(apart, RTLD_DI_LMID, &one) == 0 && dlinfo(found, RTLD_DI_LMID, &other) == 0 && one == other && one != 0);
    CHECK(dlmopen(LM_ID_BASE, NULL, RTLD_LAZY));
    CHECK(dlclose(found) == 0 && dlclose(apart) == 0);
    CHECK(dlopen("", RTLD_LAZY | RTLD_DEEPBIND));
    say("found by who asks\n");
    return 0;
}
