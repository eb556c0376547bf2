/* Thirty generations, each the child of the last: each releases what its parent left it and leaves something to its own. */
#include "../torture.h"

int main(void)
{
    int depth = 0;
    void *legacy = keep(malloc(64));
    for (;;) {
        void *old = legacy;
        legacy = keep(malloc(64 + (size_t)depth * 100));
        pid_t child = depth < 30 ? fork() : 1;
        CHECK(child >= 0);
        free(old);
        churn(20);
        if (child) {
            int status = depth < 30 ? status_of(child) : 30;
            CHECK(status == 30);
            free(legacy);
            if (depth)
                exit(status);
            break;
        }
        depth++;
    }
    say("thirty generations\n");
    return 0;
}
