/* Children that allocate, release what they inherited, and end by exit, as their parent does. */
#include "../torture.h"

int main(void)
{
    void *inherited = keep(malloc(5000));
    for (int i = 0; i < 5; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            free(inherited);
            churn(500);
            exit(i);
        }
        churn(200);
        CHECK(status_of(child) == i);
    }
    free(inherited);
    say("five children\n");
    return 0;
}
