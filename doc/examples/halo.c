/* Heat in a rod that is cut among the ranks: each has its part and a cell of its
 * neighbours on either side. At the end rank 0 gathers the whole rod, and so it
 * is the rank that needs most memory. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 400000, STEPS = 50 };

static double *make_part(void)
{
    double *part = calloc(CELLS + 2, sizeof *part);
    if (part == NULL)
        MPI_Abort(MPI_COMM_WORLD, 2);
    return part;
}

static void exchange(double *part, int left, int right)
{
    MPI_Sendrecv(&part[1], 1, MPI_DOUBLE, left, 0, &part[CELLS + 1], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&part[CELLS], 1, MPI_DOUBLE, right, 1, &part[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double *gather_rod(const double *part, int ranks)
{
    int rank;
    double *rod = NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        rod = malloc(sizeof *rod * CELLS * ranks);
    MPI_Gather(&part[1], CELLS, MPI_DOUBLE, rod, CELLS, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return rod;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    double *part = make_part(), *next = make_part();
    if (rank == 0)
        part[CELLS] = 1000; /* at the border to rank 1 */
    for (int step = 0; step < STEPS; step++) {
        exchange(part, left, right);
        for (int i = 1; i <= CELLS; i++)
            next[i] = part[i] + 0.25 * (part[i - 1] - 2 * part[i] + part[i + 1]);
        double *old = part;
        part = next;
        next = old;
    }
    double *rod = gather_rod(part, ranks), sum = 0;
    for (long i = 0; rod != NULL && i < (long)CELLS * ranks; i++)
        sum += rod[i];
    if (rank == 0)
        printf("%d ranks, heat in the rod: %.3f\n", ranks, sum);
    free(rod);
    free(part);
    free(next);
    MPI_Finalize();
    return 0;
}
