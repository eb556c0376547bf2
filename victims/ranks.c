// A rank of a job whose memory is known: each holds 4 MiB, rank 2 holds 24 MiB, and with
// "planted" each holds 3 MiB more.
#include <stdlib.h>
#include <string.h>

#define SITE __attribute__((noinline))
static char *volatile kept[2];

SITE static void mesh(int rank) {
    size_t bytes = (rank == 2 ? 24 : 4) << 20;
    kept[0] = malloc(bytes);
    memset(kept[0], 1, bytes);
}

SITE static void planted(void) {
    kept[1] = malloc(3 << 20);
    memset(kept[1], 1, 3 << 20);
}

int main(int argc, char **argv) {
    mesh(argc > 1 ? atoi(argv[1]) : 0);
    if (argc > 2 && !strcmp(argv[2], "planted"))
        planted();
    return kept[0] == NULL;
}
