/* stackfuzz: a library that has a twin, whose code differs from it in nothing but the size of its frame: FRAME. */
struct fuzz;

void plugin_go(struct fuzz *f, int depth, void (*next)(struct fuzz *, int))
{
    char frame[FRAME];
    next(f, depth);
    __asm__ volatile("" : : "r"(frame) : "memory");
}
