/* One process, many images: `execer [images=5]`. Prints nothing, exits 0.
 *
 * Each image makes 1,000 blocks of 100 bytes, frees 400 of them, and execs itself with one image less to go; the
 * last one returns from main. @total allocations=1000 releases=400 of each image.
 */
#include "victim.h"
#include <unistd.h>

SITE void *image_block(void)
{
    void *p = malloc(100); // @site image_block peak=100000/1000 end=60000/600
    return touch(keep(p), 100);
}

static void *blocks[1000];

int main(int argc, char **argv)
{
    long images = number(argc, argv, 1, 5);
    for (int i = 0; i < 1000; i++)
        blocks[i] = image_block();
    for (int i = 0; i < 400; i++)
        free(blocks[i]);
    if (images > 1) {
        char left[2] = {(char)('0' + (images - 1) % 10), 0}; /* at most ten images */
        execl("/proc/self/exe", "execer", left, (char *)NULL);
        return 1;
    }
    return 0;
}
