/* The Poisson equation on a square, by PETSc's conjugate gradients: a matrix, two vectors and a solver, spread over the
 * ranks. Says how many iterations it took and how far the result is from what it must be. */
#include <petscksp.h>

static PetscErrorCode fill(Mat matrix, PetscInt side)
{
    PetscInt first, last;
    PetscFunctionBeginUser;
    PetscCall(MatGetOwnershipRange(matrix, &first, &last));
    for (PetscInt row = first; row < last; row++) {
        PetscInt x = row % side, y = row / side;
        if (x > 0)
            PetscCall(MatSetValue(matrix, row, row - 1, -1, INSERT_VALUES));
        if (x + 1 < side)
            PetscCall(MatSetValue(matrix, row, row + 1, -1, INSERT_VALUES));
        if (y > 0)
            PetscCall(MatSetValue(matrix, row, row - side, -1, INSERT_VALUES));
        if (y + 1 < side)
            PetscCall(MatSetValue(matrix, row, row + side, -1, INSERT_VALUES));
        PetscCall(MatSetValue(matrix, row, row, 4, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
    const PetscInt side = 300;
    Mat matrix;
    Vec known, right, found;
    KSP solver;
    PetscReal error;
    PetscInt iterations;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, side * side, side * side, 5, NULL, 5, NULL, &matrix));
    PetscCall(fill(matrix, side));
    PetscCall(MatCreateVecs(matrix, &known, &right));
    PetscCall(VecDuplicate(known, &found));
    PetscCall(VecSet(known, 1));
    PetscCall(MatMult(matrix, known, right));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
    PetscCall(KSPSetOperators(solver, matrix, matrix));
    PetscCall(KSPSetType(solver, KSPCG));
    PetscCall(KSPSetTolerances(solver, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    PetscCall(KSPSolve(solver, right, found));
    PetscCall(KSPGetIterationNumber(solver, &iterations));
    PetscCall(VecAXPY(found, -1, known));
    PetscCall(VecNorm(found, NORM_INFINITY, &error));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d iterations, error %s 1e-5\n", (int)iterations, error < 1e-5 ? "below" : "above"));
    PetscCall(KSPDestroy(&solver));
    PetscCall(VecDestroy(&known));
    PetscCall(VecDestroy(&right));
    PetscCall(VecDestroy(&found));
    PetscCall(MatDestroy(&matrix));
    return PetscFinalize();
}
