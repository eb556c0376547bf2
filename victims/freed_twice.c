/* Blocks that are freed twice, resized after they were freed, or never were any: glibc says so and aborts, or something
 * breaks, or nothing does; what, is printed of each. Whoever asks for such a block's size before it goes dies elsewhere.
 */
#include "torture/torture.h"
#include <sys/resource.h>

enum { WAYS = 6, SIZES = 6 };
static const size_t sizes[SIZES] = {16, 100, 1032, 5000, 120000, 400000};

static void misuse(int way, size_t size)
{
    char *volatile block = malloc(size);
    char *volatile other = way % 2 ? malloc(24) : NULL; /* or it borders on what was never given */
    switch (way / 2) {
    case 0:
        free(block);
        free(block);
        break;
    case 1:
        free(block);
        block = realloc(block, 2 * size);
        break;
    default:
        free(block + 16);
    }
    free(other);
    _exit(0);
}

int main(void)
{
    struct rlimit none = {0, 0};
    CHECK(setrlimit(RLIMIT_CORE, &none) == 0);
    for (int way = 0; way < WAYS; way++)
        for (int i = 0; i < SIZES; i++) {
            pid_t child = fork();
            CHECK(child >= 0);
            if (!child) {
                close(2);
                misuse(way, sizes[i]);
            }
            say("%d %zu: %d\n", way, sizes[i], status_of(child));
        }
    return 0;
}
