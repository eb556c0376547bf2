! What a Fortran program may say to memlog; see memlog.h, which says more.
! Compile it with memlog_fortran.c beside it:
!
!   cc -c memlog_fortran.c && gfortran memlog.f90 program.f90 memlog_fortran.o
!
! SPDX-License-Identifier: MIT OR Apache-2.0
module memlog
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_null_char
  implicit none
  private
  public :: memlog_mark, memlog_snapshot, memlog_sync, memlog_start, memlog_stop
  public :: memlog_name_thread, memlog_is_recording
  public :: memlog_scope_begin, memlog_scope_end

  interface
    subroutine mark(name) bind(c, name="memlog_fortran_mark")
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    subroutine memlog_snapshot() bind(c, name="memlog_fortran_snapshot")
    end subroutine
    subroutine memlog_sync() bind(c, name="memlog_fortran_sync")
    end subroutine
    subroutine memlog_start() bind(c, name="memlog_fortran_start")
    end subroutine
    subroutine memlog_stop() bind(c, name="memlog_fortran_stop")
    end subroutine
    subroutine name_thread(name) bind(c, name="memlog_fortran_name_thread")
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    subroutine scope_begin(name) bind(c, name="memlog_fortran_scope_begin")
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    subroutine memlog_scope_end() bind(c, name="memlog_fortran_scope_end")
    end subroutine
    function is_recording() bind(c, name="memlog_fortran_is_recording")
      import :: c_int
      integer(c_int) :: is_recording
    end function
  end interface

contains

  subroutine memlog_mark(name)
    character(len=*), intent(in) :: name
    call mark(trim(name) // c_null_char)
  end subroutine

  subroutine memlog_name_thread(name)
    character(len=*), intent(in) :: name
    call name_thread(trim(name) // c_null_char)
  end subroutine

  subroutine memlog_scope_begin(name)
    character(len=*), intent(in) :: name
    call scope_begin(trim(name) // c_null_char)
  end subroutine

  logical function memlog_is_recording()
    memlog_is_recording = is_recording() /= 0
  end function

end module memlog
