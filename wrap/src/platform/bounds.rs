//! The part of memory that a walk of a stack may read.
#![allow(unsafe_code)]
//! # Safety
//! Words are read inside the mapped stack only, and aligned.

use super::arch;

/// The part of memory that a walk may read: from the caller's sp up to the
/// end of the stack it is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// First readable byte.
    pub low: u64,
    /// First byte past the stack.
    pub high: u64,
}

impl Bounds {
    /// A word of the stack, aligned and below its end.
    #[inline]
    pub fn read_below(&self, address: u64) -> Option<u64> {
        // SAFETY: by the check inside the mapped stack, and aligned.
        (address >= self.low).then(|| unsafe { Self::word(address) })
    }

    /// A word of memory.
    ///
    /// # Safety
    /// It lies inside the bounds of a mapped stack, aligned: words above the
    /// caller's sp are live frames.
    #[inline(always)]
    pub unsafe fn word(address: u64) -> u64 {
        // SAFETY: by the caller.
        unsafe { (address as *const usize).read() as u64 }
    }

    /// A word of the stack.
    #[inline]
    pub fn read(&self, address: u64) -> Option<u64> {
        // Bounds are whole words, so an aligned address below the end will do.
        let inside = (self.low..self.high).contains(&address);
        if !inside || !address.is_multiple_of(arch::WORD) {
            return None;
        }
        // SAFETY: inside the mapped stack and aligned; words above the
        // caller's sp are live frames.
        Some(unsafe { (address as *const usize).read() } as u64)
    }
}
