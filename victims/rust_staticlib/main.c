/* A C program with a Rust static library: `rust_staticlib`. Prints nothing, exits 0.
 *
 * Peak: c_make 200 x 65,536 bytes and rust_make (lib.rs) 100 x 409,600 bytes, all touched; at the end two C
 * blocks and one Rust block are left. @total allocations=300 releases=297
 */
#include "../victim.h"

unsigned char *rust_make(void);
void rust_drop(unsigned char *);

SITE void *c_make(void)
{
    void *p = malloc(65536); // @site c_make peak=13107200/200 end=131072/2
    return touch(keep(p), 65536);
}

static void *ours[200];
static unsigned char *theirs[100];

int main(void)
{
    for (int i = 0; i < 200; i++)
        ours[i] = c_make();
    for (int i = 0; i < 100; i++)
        theirs[i] = rust_make();
    for (int i = 1; i < 100; i++)
        rust_drop(theirs[i]);
    for (int i = 2; i < 200; i++)
        free(ours[i]);
    return 0;
}
