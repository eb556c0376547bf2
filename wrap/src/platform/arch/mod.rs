//! What differs between processors: the doorstep's registers, the pure rules
//! of one unwinding step. Every file has the same items in the same order.
//!
//! The assembly: `skeleton.h` says what each processor's `.h` must, `doors.S` and
//! `operators.S` make the shims of it, and its `.S` has the few words beside.

// All are compiled and tested on every host: only one is used.
#[cfg(any(test, target_arch = "aarch64"))]
pub mod aarch64;
#[cfg(any(test, target_arch = "arm"))]
pub mod arm;
#[cfg(any(
    test,
    target_arch = "aarch64",
    target_arch = "mips64",
    target_arch = "riscv64"
))]
mod beside;
#[cfg(any(test, target_arch = "mips64"))]
pub mod mips64;
#[cfg(any(test, target_arch = "powerpc64"))]
pub mod powerpc64;
#[cfg(any(test, target_arch = "riscv64"))]
pub mod riscv64;
#[cfg(any(test, target_arch = "s390x"))]
pub mod s390x;
#[cfg(any(test, target_arch = "x86"))]
pub mod x86;
#[cfg(any(test, target_arch = "x86_64"))]
pub mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use aarch64::*;
#[cfg(target_arch = "arm")]
pub use arm::*;
#[cfg(target_arch = "mips64")]
pub use mips64::*;
#[cfg(target_arch = "powerpc64")]
pub use powerpc64::*;
#[cfg(target_arch = "riscv64")]
pub use riscv64::*;
#[cfg(target_arch = "s390x")]
pub use s390x::*;
#[cfg(target_arch = "x86")]
pub use x86::*;
#[cfg(target_arch = "x86_64")]
pub use x86_64::*;

#[cfg_attr(target_arch = "x86_64", path = "x86_64_marks.rs")]
#[cfg_attr(not(target_arch = "x86_64"), path = "no_marks.rs")]
pub mod marks;

#[cfg_attr(target_arch = "x86_64", path = "x86_64_code.rs")]
#[cfg_attr(not(target_arch = "x86_64"), path = "no_code.rs")]
pub mod code;

#[cfg_attr(target_arch = "x86_64", path = "x86_64_routines.rs")]
#[cfg_attr(not(target_arch = "x86_64"), path = "no_routines.rs")]
pub mod routines;

#[cfg(any(test, target_arch = "mips64"))]
pub mod mips64_elf;
#[cfg(not(target_arch = "mips64"))]
pub mod usual_elf;

#[cfg(target_arch = "mips64")]
pub use mips64_elf as elf;
#[cfg(not(target_arch = "mips64"))]
pub use usual_elf as elf;

use core::sync::atomic::{AtomicU32, AtomicUsize};

unsafe extern "C" {
    /// A raw system call; a result from -4095 to -1 is an error.
    pub fn memlog_syscall(
        number: libc::c_long,
        a: usize,
        b: usize,
        c: usize,
        d: usize,
        e: usize,
        f: usize,
    ) -> isize;
    /// This thread's word. Only once the thread pointer is set up.
    pub fn memlog_tls_word() -> *mut u64;
    /// Where the main stack begins, as glibc says; null where it does not.
    pub fn memlog_stack_end() -> *const usize;
    /// The address of our own dynamic section; 0 in the static shape.
    pub fn memlog_own_dynamic() -> u64;
    /// malloc_usable_size in the static shape, if the program has it; else 0.
    pub fn memlog_static_usable() -> usize;
    /// The C library's sigaction, if the program has it; else 0.
    pub fn memlog_sigaction() -> usize;
    /// See [`quick`](crate::platform::quick).
    pub static memlog_quick: [AtomicUsize; 2];
    /// The first word of the page that fork wipes.
    pub static memlog_life: AtomicU32;
}
