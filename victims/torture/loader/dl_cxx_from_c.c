/* A program in C loads a plugin in C++ with RTLD_LOCAL: libstdc++, libgcc_s and the operators come late, and go again.
 *
 * @flags -ldl
 */
#include "../loader.h"

int main(void)
{
    for (int i = 0; i < 10; i++) {
        void *handle = load("plug_cxx", RTLD_NOW | RTLD_LOCAL);
        size_t (*work)(int) = (size_t(*)(int))find(handle, "cxx_work");
        CHECK(work(200) == 200 * 201 / 2);
        churn(100);
        CHECK(dlclose(handle) == 0);
        churn(100);
    }
    say("ten times C++\n");
    return 0;
}
