/* LD_BIND_NOW binds every name at the start, and LD_DYNAMIC_WEAK lets a strong one win over a weak one before it.
 *
 * @flags -ldl
 */
#include "../again.h"

int main(int argc, char **argv)
{
    (void)argc;
    setenv("LD_DYNAMIC_WEAK", "1", 1);
    again_with(argv, "LD_BIND_NOW", "1");
    churn(500);
    for (int i = 0; i < 5; i++) {
        void *handle = load("plug_cxx", RTLD_LAZY);
        CHECK(((size_t(*)(int))find(handle, "cxx_work"))(20) == 20 * 21 / 2);
        CHECK(dlclose(handle) == 0);
    }
    say("bound\n");
    return 0;
}
