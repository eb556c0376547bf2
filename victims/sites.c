/* Six allocating sites, one peak, one leak: `sites`. Prints nothing, exits 0.
 *
 * Phase 1 allocates and touches everything (the peak of RSS and of the heap, 92,783,232 bytes in
 * 100,297 blocks), phase 2 frees most of it, phase 3 leaks. At the end 2,236,112 bytes in 1,047 blocks
 * are live. @total allocations=100321 releases=99274
 *
 *   alpha    malloc    64 x 1 MiB                           all freed
 *   beta     malloc    100,000 x 48                         1,000 stay
 *   gamma_   calloc    200 x (100 x 100)                    5 stay
 *   delta    realloc   1 KiB doubled 14 times to 16 MiB     freed: 15 allocations, 14 releases before the peak
 *   epsilon  memalign  32 x 64 KiB at 4,096                 all stay
 *   leak     malloc    10 x 4,096, after the peak           all stay
 */
#include "victim.h"
#include <malloc.h>
#include <string.h>

enum { ALPHAS = 64, BETAS = 100000, GAMMAS = 200, EPSILONS = 32, LEAKS = 10 };
static void *alphas[ALPHAS], *betas[BETAS], *gammas[GAMMAS], *epsilons[EPSILONS], *leaks[LEAKS], *grown;

SITE void *alpha(void)
{
    void *p = malloc(1 << 20); // @site alpha peak=67108864/64 end=0/0
    return touch(keep(p), 1 << 20);
}

SITE void *beta(void)
{
    void *p = malloc(48); // @site beta peak=4800000/100000 end=48000/1000
    return touch(keep(p), 48);
}

SITE void *gamma_(void)
{
    void *p = calloc(100, 100); // @site gamma_ peak=2000000/200 end=50000/5
    return touch(keep(p), 10000);
}

SITE void *delta(void)
{
    void *p = NULL;
    for (size_t size = 1 << 10; size <= 16 << 20; size *= 2) {
        p = realloc(p, size); // @site delta peak=16777216/1 end=0/0
        touch(keep(p), size);
    }
    return p;
}

SITE void *epsilon(void)
{
    void *p = memalign(4096, 65536); // @site epsilon peak=2097152/32 end=2097152/32
    return touch(keep(p), 65536);
}

SITE void *leak(void)
{
    void *p = malloc(4096); // @site leak peak=0/0 end=40960/10
    return touch(keep(p), 4096);
}

SITE void grow(void)
{
    for (int i = 0; i < EPSILONS; i++)
        epsilons[i] = epsilon();
    for (int i = 0; i < GAMMAS; i++)
        gammas[i] = gamma_();
    for (int i = 0; i < BETAS; i++)
        betas[i] = beta();
    grown = delta();
    for (int i = 0; i < ALPHAS; i++)
        alphas[i] = alpha();
}

SITE void shrink(void)
{
    for (int i = 0; i < ALPHAS; i++)
        free(alphas[i]);
    free(grown);
    for (int i = 1000; i < BETAS; i++)
        free(betas[i]);
    for (int i = 5; i < GAMMAS; i++)
        free(gammas[i]);
}

int main(void)
{
    grow();
    shrink();
    for (int i = 0; i < LEAKS; i++)
        leaks[i] = leak();
    return 0;
}
