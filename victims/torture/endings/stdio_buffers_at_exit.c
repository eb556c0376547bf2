/* Streams with buffers of libc's and of the program's heap are open at exit: their bytes must still come out, into their files. */
#include "../torture.h"

int main(void)
{
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "out%d", i);
        FILE *file = fopen(name, "w");
        CHECK(file);
        if (i % 3 == 1)
            CHECK(setvbuf(file, keep(malloc(100000)), _IOFBF, 100000) == 0);
        else if (i % 3 == 2)
            CHECK(setvbuf(file, NULL, _IOLBF, 0) == 0);
        for (int k = 0; k < 300; k++)
            fprintf(file, "%d of %d%c", k, i, k % 7 ? ' ' : '\n');
    }
    printf("twenty files, none closed");
    fprintf(stderr, "and stderr");
    exit(5);
}
