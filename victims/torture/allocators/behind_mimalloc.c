/* mimalloc is preloaded behind the recorder, which is told so by the next image of the same process: its blocks, its operators
 * and its hooks on threads and fork are called in its order, and not libc's.
 *
 * @flags -ldl
 * @uncounted: the second recorder knows libc's blocks only
 */
#include "behind.h"

int main(int argc, char **argv)
{
    (void)argc;
    return behind(argv, "libmimalloc.so.2");
}
