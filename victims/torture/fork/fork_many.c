/* A hundred children live at the same time, all begun before the first of them ends. */
#include "../torture.h"

enum { CHILDREN = 100 };

int main(void)
{
    int gate[2];
    pid_t children[CHILDREN];
    void *inherited[CHILDREN];
    CHECK(pipe(gate) == 0);
    for (int i = 0; i < CHILDREN; i++) {
        inherited[i] = keep(malloc(100 + (size_t)i));
        children[i] = fork();
        CHECK(children[i] >= 0);
        if (!children[i]) {
            char byte;
            CHECK(close(gate[1]) == 0);
            churn(20);
            for (int j = 0; j <= i; j++)
                free(inherited[j]);
            CHECK(read(gate[0], &byte, 1) == 0);
            churn(20);
            exit(i);
        }
    }
    CHECK(close(gate[1]) == 0);
    for (int i = 0; i < CHILDREN; i++) {
        CHECK(status_of(children[i]) == i);
        free(inherited[i]);
    }
    say("a hundred children\n");
    return 0;
}
