/* Blocks of 64 MiB to 4 GiB that nobody touches: they must not become resident, by the recorder's hand either. */
#include "../torture.h"

static long resident_kib(void)
{
    char line[128] = "";
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fgets(line, sizeof line, file));
    fclose(file);
    long size, resident;
    CHECK(sscanf(line, "%ld %ld", &size, &resident) == 2);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(void)
{
    enum { COUNT = 20 };
    char *blocks[COUNT];
    long before = resident_kib();
    for (int i = 0; i < COUNT; i++) {
        blocks[i] = keep(i % 2 ? calloc(64, 1 << 20) : malloc((size_t)64 << 20));
        CHECK(blocks[i]);
        blocks[i] = keep(realloc(blocks[i], (size_t)128 << 20));
        CHECK(blocks[i]);
        blocks[i][100] = 1;
    }
    void *large = keep(malloc((size_t)4 << 30));
    CHECK(large || errno == ENOMEM);
    CHECK(resident_kib() - before < 32 << 10);
    free(large);
    for (int i = 0; i < COUNT; i++)
        free(blocks[i]);
    say("%d huge blocks, all air\n", COUNT);
    return 0;
}
