/* All descriptors from 3 are closed, as a daemon does, and files opened in their place: what a recorder goes on writing to its
 * old number lands in them.
 */
#include "../torture.h"
#include <fcntl.h>
#include <sys/stat.h>

int main(void)
{
    churn(2000);
    for (int round = 0; round < 3; round++) {
        for (int fd = 3; fd < 1024; fd++)
            close(fd);
        for (int i = 0; i < 20; i++) {
            char name[32];
            snprintf(name, sizeof name, "file.%d", i);
            CHECK(open(name, O_RDWR | O_CREAT | O_TRUNC, 0644) == 3 + i);
        }
        for (int i = 0; i < 20; i++) {
            churn(1000);
            CHECK(write(3 + i, "mine\n", 5) == 5);
        }
        churn(2000);
        for (int i = 0; i < 20; i++) {
            struct stat about;
            CHECK(fstat(3 + i, &about) == 0 && about.st_size == 5);
            CHECK(lseek(3 + i, 0, SEEK_CUR) == 5);
        }
    }
    say("twenty files, five bytes each\n");
    return 0;
}
