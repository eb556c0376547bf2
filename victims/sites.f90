! Fortran allocate and deallocate in module procedures: `sites_f90`. Prints nothing, exits 0.
!
! Peak: fill_field 40 fields of 1,000,000 bytes, fill_index one array of 8,000,000 bytes. At the end 2 fields are
! left. The Fortran runtime makes some blocks of its own before the main program.
module fields
  implicit none
  type field
    real(8), allocatable :: x(:)
  end type
contains
  subroutine fill_field(f)
    type(field), intent(inout) :: f
    allocate(f%x(125000)) ! @site fill_field peak=40000000/40 end=2000000/2
    f%x = 1.0d0
  end subroutine

  subroutine fill_index(index)
    integer(4), allocatable, intent(inout) :: index(:)
    allocate(index(2000000)) ! @site fill_index peak=8000000/1 end=0/0
    index = 7
  end subroutine

  subroutine drop_field(f)
    type(field), intent(inout) :: f
    deallocate(f%x)
  end subroutine
end module

program sites
  use fields
  implicit none
  type(field), save :: all(40)
  integer(4), allocatable :: index(:)
  integer :: i
  call fill_index(index)
  do i = 1, 40
    call fill_field(all(i))
  end do
  do i = 3, 40
    call drop_field(all(i))
  end do
  deallocate(index)
end program
