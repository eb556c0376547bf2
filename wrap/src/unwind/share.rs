//! How much of a cache a thread uses: little at first, for most threads do
//! little, and memory that is never touched costs nothing.
//!
//! A hash is the offset of an entry in bytes, as far as the mask leaves it: so
//! an entry is found by one AND, as in a cache of fixed size.
#![allow(unsafe_code)]
//! # Safety
//! A mask is below the size of the cache and has whole entries only: a compiler
//! that is not told so looks at each.

use core::marker::PhantomData;

/// Entries that every thread has: a page of them.
const FIRST: usize = 256;
/// How many times larger it grows at once.
const GROWTH: usize = 4;

/// The part in use of a cache of `N` entries, both powers of two: their number
/// and their size. Zeros are a cache that was never used.
#[repr(C)]
pub struct Share<T, const N: usize> {
    /// The offset of the last entry in use.
    mask: usize,
    /// Of what was sought in vain since it was this large.
    misses: usize,
    entries: PhantomData<T>,
}

impl<T, const N: usize> Share<T, N> {
    const SIZE: usize = {
        assert!(size_of::<T>().is_power_of_two() && N.is_power_of_two());
        size_of::<T>()
    };

    /// The entry where a hash belongs.
    #[inline(always)]
    pub fn entry<'a>(&self, entries: &'a [T; N], hash: usize) -> &'a T {
        // SAFETY: only `miss` sets the mask, to less than N entries.
        unsafe { &*entries.as_ptr().byte_add(hash & self.mask) }
    }

    /// The same to be written to.
    pub fn entry_mut<'a>(&self, entries: &'a mut [T; N], hash: usize) -> &'a mut T {
        // SAFETY: as above.
        unsafe { &mut *entries.as_mut_ptr().byte_add(hash & self.mask) }
    }

    /// The entries in use.
    pub fn used(&self) -> usize {
        self.mask / Self::SIZE + 1
    }

    /// Something was not there and will be put there now. Whoever misses half as
    /// often as there are entries has use for more; how many those are. What is
    /// known stays: entries tell for themselves what they are of.
    pub fn miss(&mut self) -> usize {
        let used = self.used();
        self.misses += 1;
        if self.misses < used / 2 && used >= FIRST.min(N) {
            return 0;
        }
        let grown = used.saturating_mul(GROWTH).clamp(FIRST.min(N), N);
        (self.mask, self.misses) = ((grown - 1) * Self::SIZE, 0);
        grown - used
    }
}
