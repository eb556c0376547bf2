/* exit inside a constructor, so inside dlopen: all exit handlers and destructors run, and the recorder's, while the loader
 * is half done and holds its lock.
 *
 * @flags -ldl
 */
#include "../loader.h"

__attribute__((destructor)) static void end(void)
{
    churn(100);
    say("the program's destructor\n");
}

int main(void)
{
    churn(200);
    load("plug_exit", RTLD_NOW);
    return 1;
}
