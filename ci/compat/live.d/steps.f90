! Each rank keeps one table more a step, of (rank + 1) * 1000 numbers, and marks the step. There is
! a file `begun` from the third step on, and steps go on until there is a file `end`. Then rank 0 says
! what each has kept: `rank R kept N tables of B bytes`.
program steps
  use, intrinsic :: iso_c_binding, only: c_int
  use mpi
  use memlog
  implicit none
  interface
    subroutine usleep(microseconds) bind(c)
      import :: c_int
      integer(c_int), value :: microseconds
    end subroutine
  end interface
  type kept
    real(8), allocatable :: table(:)
  end type
  integer, parameter :: most = 100000
  type(kept), allocatable :: all(:)
  integer :: rank, ranks, step, code, from, unit, counts(2)
  integer, allocatable :: every(:, :)
  logical :: is_over
  character(len=16) :: name
  real(8) :: sum_of_step

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  allocate(all(most), every(2, ranks))
  do step = 1, most
    call keep(all(step), (rank + 1) * 1000)
    write(name, '(a, i0)') 'step ', step
    call memlog_mark(name)
    call MPI_Allreduce(all(step)%table(1), sum_of_step, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, code)
    if (rank == 0 .and. step == 3) then
      open(newunit=unit, file='begun')
      close(unit)
    end if
    if (rank == 0) inquire(file='end', exist=is_over)
    call MPI_Bcast(is_over, 1, MPI_LOGICAL, 0, MPI_COMM_WORLD, code)
    if (is_over) exit
    call usleep(20000_c_int)
  end do
  counts = [step, size(all(1)%table) * 8]
  call MPI_Gather(counts, 2, MPI_INTEGER, every, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
  if (rank == 0) then
    do from = 1, ranks
      print '(a, i0, a, i0, a, i0, a)', 'rank ', from - 1, ' kept ', every(1, from), ' tables of ', every(2, from), ' bytes'
    end do
  end if
  call MPI_Finalize(code)
contains
  subroutine keep(place, count)
    type(kept), intent(inout) :: place
    integer, intent(in) :: count
    allocate(place%table(count))
    place%table = rank
  end subroutine
end program
