! Each rank has a table that goes once around all of them; a rank keeps a copy of
! each that passes, so its memory grows with the number of ranks.
program ring
  use mpi
  implicit none
  type kept
    real(8), allocatable :: table(:)
  end type
  integer, parameter :: rows = 250000
  type(kept), allocatable :: all(:)
  real(8), allocatable :: table(:)
  integer :: rank, ranks, left, right, step, code
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  left = modulo(rank - 1, ranks)
  right = modulo(rank + 1, ranks)
  allocate(all(ranks), table(rows))
  table = rank + 1
  do step = 1, ranks
    call keep(all(step), table)
    call MPI_Sendrecv_replace(table, rows, MPI_DOUBLE_PRECISION, right, 0, left, 0, &
        MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
  end do
  if (rank == 0) print '(i0, a, f0.1)', ranks, ' ranks, sum of all tables: ', total()
  call MPI_Finalize(code)
contains
  subroutine keep(place, table)
    type(kept), intent(out) :: place
    real(8), intent(in) :: table(:)
    allocate(place%table(size(table)))
    place%table = table
  end subroutine

  function total()
    real(8) :: total
    integer :: step
    total = 0
    do step = 1, ranks
      total = total + sum(all(step)%table)
    end do
  end function
end program
