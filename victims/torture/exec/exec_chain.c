/* One process, forty images, each of which execs the next from deeper down and holds blocks when it does. */
#include "../torture.h"

int main(int argc, char **argv)
{
    int image = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < 10; i++)
        keep(malloc(100 + (size_t)i * 300));
    churn(30 + image);
    if (image == 40) {
        say("forty images\n");
        return 0;
    }
    char number[12];
    snprintf(number, sizeof number, "%d", image + 1);
    execl("/proc/self/exe", argv[0], number, (char *)NULL);
    CHECK(!"exec");
}
