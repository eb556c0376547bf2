/* A plugin's exit handlers allocate after dlclose began: its code must still be walked while it is on its way out, also
 * when it goes at the program's end.
 *
 * @flags -ldl
 */
#include "../loader.h"

static int told;

static void end(void)
{
    say("%d handlers\n", told);
}

int main(void)
{
    CHECK(atexit(end) == 0);
    for (int i = 0; i < 51; i++) {
        void *handle = load("plug_atexit", RTLD_NOW);
        ((void (*)(int *))find(handle, "plug_begin"))(&told);
        if (i < 50)
            CHECK(dlclose(handle) == 0 && told == 2 * i + 2);
        churn(20);
    }
    return 0;
}
