/* stackfuzz: the techniques of stackfuzz_x86_64.S. */
#include "stackfuzz.h"

#ifdef __x86_64__
technique sf_cfa_in_rbx, sf_cfa_in_r12, sf_data_in_rbp, sf_saves_late, sf_pushes, sf_sway;
void sf_turn_alike(struct fuzz *f, int depth);

/* The same turns each time it is called with the same state, and so the same stack below. */
SITE void sf_turn_alike(struct fuzz *f, int depth)
{
    uint64_t random = f->random;
    if (f->is_stepped)
        return;
    f->random = 7;
    turn(f);
    turn(f);
    f->random = random;
    go(f, depth / 4);
}
#endif

const struct choice assembly_entries[] = {
#ifdef __x86_64__
    {"rbx", sf_cfa_in_rbx, 20, PURE},  {"r12", sf_cfa_in_r12, 20, PURE}, {"rbp", sf_data_in_rbp, 40, PURE},
    {"late", sf_saves_late, 30, PURE}, {"moves", sf_pushes, 30, PURE},  {"sway", sf_sway, 30, PURE},
#endif
    {NULL, NULL, 0, 0},
};
