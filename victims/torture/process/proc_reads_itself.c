/* A program reads its own memory by /proc/self/mem, all that its maps say can be read, and sums up its smaps, while there is
 * much to record.
 */
#include "../torture.h"
#include <fcntl.h>

int main(void)
{
    int fd = open("/proc/self/mem", O_RDONLY);
    if (fd < 0)
        skip("no /proc/self/mem: %s", strerror(errno));
    churn(30000);
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps);
    char line[8192], byte, rights[8];
    unsigned long low, high, regions = 0;
    while (fgets(line, sizeof line, maps)) {
        CHECK(sscanf(line, "%lx-%lx %7s", &low, &high, rights) == 3 && low < high);
        if (rights[0] == 'r' && !strstr(line, "[v")) {
            CHECK(pread(fd, &byte, 1, (off_t)low) == 1);
            CHECK(pread(fd, &byte, 1, (off_t)high - 1) == 1);
            regions++;
        }
        if (regions % 8 == 0)
            churn(50);
    }
    CHECK(fclose(maps) == 0 && regions > 10);
    long resident = 0, more;
    FILE *smaps = fopen("/proc/self/smaps", "r");
    CHECK(smaps);
    while (fgets(line, sizeof line, smaps))
        if (sscanf(line, "Rss: %ld kB", &more) == 1)
            resident += more;
    CHECK(fclose(smaps) == 0);
    say("%s\n", resident > 100 && resident < 200 << 10 ? "read" : "too much");
    return 0;
}
