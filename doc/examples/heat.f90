! Heat in a square plate, on a grid that is made finer twice. Each solution needs a
! second grid beside the first, and for the finest that is the peak.
module plate
  implicit none
contains
  subroutine solve(grid, steps)
    real(8), intent(inout) :: grid(:, :)
    integer, intent(in) :: steps
    real(8), allocatable :: next(:, :)
    integer :: step, i, j, n
    n = size(grid, 1)
    allocate(next(n, n))
    do step = 1, steps
      next = grid
      do j = 2, n - 1
        do i = 2, n - 1
          next(i, j) = 0.25d0 * (grid(i - 1, j) + grid(i + 1, j) + grid(i, j - 1) + grid(i, j + 1))
        end do
      end do
      grid = next
    end do
    deallocate(next)
  end subroutine

  subroutine refine(grid)
    real(8), allocatable, intent(inout) :: grid(:, :)
    real(8), allocatable :: finer(:, :)
    integer :: i, j, n
    n = size(grid, 1)
    allocate(finer(2 * n, 2 * n))
    do j = 1, 2 * n
      do i = 1, 2 * n
        finer(i, j) = grid((i + 1) / 2, (j + 1) / 2)
      end do
    end do
    call move_alloc(finer, grid)
  end subroutine
end module

program heat
  use plate
  implicit none
  real(8), allocatable :: grid(:, :)
  integer :: level
  allocate(grid(256, 256))
  grid = 0
  grid(:, 1) = 100
  do level = 1, 3
    call solve(grid, 20)
    if (level < 3) call refine(grid)
  end do
  print '(a, f12.2)', 'heat in the plate: ', sum(grid)
  deallocate(grid)
end program
