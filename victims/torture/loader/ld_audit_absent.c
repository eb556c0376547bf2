/* LD_AUDIT names a library that is not there: the loader says so and goes on, having tried to make a namespace for it.
 *
 * @flags -ldl
 */
#include "../again.h"

int main(int argc, char **argv)
{
    (void)argc;
    again_with(argv, "LD_AUDIT", "./no-such-auditor.so");
    churn(500);
    CHECK(dlclose(load("plug_small", RTLD_NOW)) == 0);
    say("no auditor\n");
    return 0;
}
