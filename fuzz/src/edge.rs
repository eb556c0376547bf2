//! Bytes with nothing behind them: the page after the last one may not be
//! touched, nor the page before the first, so that a reader of raw addresses
//! that leaves its range ends the target.
#![allow(unsafe_code)]
//! # Safety
//! Two guard pages around whole pages of private memory, mapped once and never
//! given back; a slice of them lives as long as the borrow of its owner.

const PAGE: usize = 4096;

/// Room for an input, mapped once.
pub struct Edge {
    first: *mut u8,
    bytes: usize,
}

// SAFETY: plain memory of its own.
unsafe impl Send for Edge {}

impl Edge {
    /// Room for so many bytes.
    pub fn new(bytes: usize) -> Self {
        let bytes = bytes.next_multiple_of(PAGE);
        let whole = bytes + 2 * PAGE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a fresh mapping without access; then its middle is opened.
        let first = unsafe {
            let start = libc::mmap(std::ptr::null_mut(), whole, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(start, libc::MAP_FAILED, "memory");
            let first = start.cast::<u8>().add(PAGE);
            let access = libc::PROT_READ | libc::PROT_WRITE;
            assert_eq!(libc::mprotect(first.cast(), bytes, access), 0, "memory");
            first
        };
        Self { first, bytes }
    }

    /// The input where it touches the end; what does not fit is left out.
    pub fn at_end(&mut self, input: &[u8]) -> &mut [u8] {
        let length = input.len().min(self.bytes);
        // SAFETY: the last bytes of the open part.
        let slice =
            unsafe { std::slice::from_raw_parts_mut(self.first.add(self.bytes - length), length) };
        slice.copy_from_slice(&input[..length]);
        slice
    }

    /// The input at the beginning, so that its address is that of a page, with
    /// zeros behind it to the end of its page.
    pub fn at_start(&mut self, input: &[u8]) -> &mut [u8] {
        let length = input.len().min(self.bytes);
        // SAFETY: the first bytes of the open part.
        let slice = unsafe {
            std::slice::from_raw_parts_mut(self.first, length.next_multiple_of(PAGE).max(PAGE))
        };
        slice[..length].copy_from_slice(&input[..length]);
        slice[length..].fill(0);
        slice
    }
}
