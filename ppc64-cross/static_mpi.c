/* Blocks of known sizes at known places in each rank; with rank R: 10+R blocks of 1000*(R+1) bytes and one that MPI
 * is asked for are kept, 50 are released. Says on rank 0 what came of adding all ranks up. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CALLED __attribute__((noipa))

static double *blocks[100];

CALLED static void keep(int rank)
{
    for (int i = 0; i < 10 + rank; i++)
        blocks[i] = malloc(1000 * (rank + 1));
}

CALLED static void pass(void)
{
    for (int i = 0; i < 50; i++) {
        void *volatile block = malloc(777);
        free(block);
    }
}

CALLED static void *window(void)
{
    void *memory;
    if (MPI_Alloc_mem(1 << 20, MPI_INFO_NULL, &memory) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 3);
    return memory;
}

int main(int argc, char **argv)
{
    int rank, size;
    double sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    keep(rank);
    pass();
    blocks[99] = window();
    blocks[0][0] = rank + 1;
    MPI_Allreduce(blocks[0], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    blocks[99][0] = sum;
    if (rank == 0)
        printf("%d ranks, sum %g\n", size, sum);
    MPI_Finalize();
    return 0;
}
