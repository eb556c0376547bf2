//! The kernel itself.
#![allow(unsafe_code)]
//! # Safety
//! The table of the assembly holds addresses of functions with the signatures
//! of IBM's headers, or 0.

use super::kernel::{Kernel, KernelFigures, Size};
use super::memory::Arena;
use crate::platform::sys::{Errno, call};
use core::sync::atomic::AtomicU64;

/// The kernel itself.
pub struct Raw;

unsafe extern "C" {
    /// Kernel_GetRank, Kernel_GetJobID, Kernel_GetMemorySize, and a reading of
    /// the time base: addresses of functions, 0 for what is not there.
    static memlog_cnk_functions: [usize; 4];
}

fn function(index: usize) -> Option<usize> {
    // SAFETY: a table that nobody writes to.
    let table = unsafe { &memlog_cnk_functions };
    let place: *const usize = table.get(index)?;
    // SAFETY: a word of the table; volatile, for what it is the linker decides.
    let address = unsafe { place.read_volatile() };
    (address != 0).then_some(address)
}

static FIGURES: KernelFigures = KernelFigures {
    peak_kb: AtomicU64::new(0),
    clock_ns: AtomicU64::new(0),
    read_at: AtomicU64::new(0),
};
static ARENA: Arena = Arena::new();

impl Kernel for Raw {
    #[inline]
    fn call(number: libc::c_long, arguments: [usize; 6]) -> Result<usize, Errno> {
        call::call(number, arguments)
    }

    fn time_base() -> u64 {
        function(3).map_or(0, |address| {
            // SAFETY: see the head of this file.
            let read: extern "C" fn() -> u64 = unsafe { core::mem::transmute(address) };
            read()
        })
    }

    fn rank() -> Option<u64> {
        function(0).map(|address| {
            // SAFETY: see the head of this file.
            let rank: extern "C" fn() -> u32 = unsafe { core::mem::transmute(address) };
            u64::from(rank())
        })
    }

    fn job() -> Option<u64> {
        function(1).map(|address| {
            // SAFETY: see the head of this file.
            let job: extern "C" fn() -> u64 = unsafe { core::mem::transmute(address) };
            job()
        })
    }

    fn memory_size(which: Size) -> Option<u64> {
        type Ask = extern "C" fn(libc::c_int, *mut u64) -> libc::c_int;
        let address = function(2)?;
        // SAFETY: see the head of this file.
        let ask: Ask = unsafe { core::mem::transmute(address) };
        let mut bytes = 0;
        (ask(which as libc::c_int, &raw mut bytes) == 0).then_some(bytes)
    }

    fn figures() -> &'static KernelFigures {
        &FIGURES
    }

    fn arena() -> &'static Arena {
        &ARENA
    }
}
