! allocate, deallocate and what the compiler allocates by itself; subroutines of C tell their stacks.
module work
    use iso_c_binding
    implicit none
    interface
        subroutine seen_once() bind(c)
        end subroutine
    end interface
contains
    recursive subroutine nested(depth)
        integer, intent(in) :: depth
        real(8), allocatable :: room(:)
        allocate(room(10 + depth))
        room = depth
        if (depth > 0) call nested(depth - 1)
        call seen_once()
        deallocate(room)
    end subroutine

    function doubled(numbers) result(twice)
        integer, intent(in) :: numbers(:)
        integer, allocatable :: twice(:)
        twice = 2 * numbers
    end function
end module

program main
    use work
    implicit none
    integer, allocatable :: numbers(:), grown(:)
    character(:), allocatable :: text
    integer :: i, status
    call seen_once()
    allocate(numbers(100))
    numbers = [(i, i = 1, 100)]
    grown = [doubled(numbers), numbers]
    do i = 1, 20
        text = repeat('x', 10 * i)
        call nested(i)
    end do
    allocate(numbers(5), stat=status)
    deallocate(numbers)
    print '(a, i0)', 'sum: ', sum(grown)
    print '(a, i0)', 'text: ', len(text)
    print '(a, l1)', 'refused: ', status /= 0
end program
