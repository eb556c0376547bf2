//! How much of a cache a thread uses: little at first, for most threads do
//! little, and memory that is never touched costs nothing.
#![allow(unsafe_code)]
//! # Safety
//! An index is below the size of the cache, for the mask is: a compiler that is
//! not told so looks at each.

/// Entries that every thread has: a page of them.
const FIRST: usize = 256;
/// How many times larger it grows at once.
const GROWTH: usize = 4;

/// The part in use of a cache of `N` entries, a power of two. Zeros are a
/// cache that was never used.
#[repr(C)]
pub struct Share<const N: usize> {
    mask: usize,
    /// Of what was sought in vain since it was this large.
    misses: usize,
}

impl<const N: usize> Share<N> {
    /// Nothing is in use.
    pub const fn new() -> Self {
        Self { mask: 0, misses: 0 }
    }

    /// The entry where a hash belongs.
    #[inline(always)]
    pub fn entry<'a, T>(&self, entries: &'a [T; N], hash: usize) -> &'a T {
        // SAFETY: only `miss` sets the mask, to less than N.
        unsafe { entries.get_unchecked(hash & self.mask) }
    }

    /// The same to be written to.
    pub fn entry_mut<'a, T>(&self, entries: &'a mut [T; N], hash: usize) -> &'a mut T {
        // SAFETY: as above.
        unsafe { entries.get_unchecked_mut(hash & self.mask) }
    }

    /// The entries in use.
    pub fn used(&self) -> usize {
        self.mask + 1
    }

    /// Something was not there and will be put there now. Whoever misses as
    /// often as there are entries has use for more; how many those are. What is
    /// known stays: entries tell for themselves what they are of.
    pub fn miss(&mut self) -> usize {
        let used = self.used();
        self.misses += 1;
        if self.misses < used && used >= FIRST.min(N) {
            return 0;
        }
        let grown = used.saturating_mul(GROWTH).clamp(FIRST.min(N), N);
        (self.mask, self.misses) = (grown - 1, 0);
        grown - used
    }
}

impl<const N: usize> Default for Share<N> {
    fn default() -> Self {
        Self::new()
    }
}
