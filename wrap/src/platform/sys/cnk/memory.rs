//! All the memory that the recorder has: one piece of .bss, handed out from its
//! start and never taken back. It is part of the program's data, so it is there
//! before the first call and can be taken inside any, a signal handler's too;
//! where it ends events are lost, and counted.
#![allow(unsafe_code)]
//! # Safety
//! Pieces are disjoint; what happens in one is its owner's business.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering};

/// What pieces begin on, and are whole numbers of.
pub const PAGE: usize = 4096;

/// Bytes of it: MEMLOG_CNK_MIB at the build, or what [`MIB`] says.
pub const BYTES: usize = match option_env!("MEMLOG_CNK_MIB") {
    Some(text) => number(text.as_bytes()) << 20,
    None => MIB << 20,
};
/// Enough for a rank of sixteen threads and a hundred thousand stack nodes.
const MIB: usize = 8;

const fn number(text: &[u8]) -> usize {
    let mut sum = 0;
    let mut at = 0;
    while at < text.len() {
        assert!(text[at].is_ascii_digit(), "MEMLOG_CNK_MIB is a number");
        sum = sum * 10 + (text[at] - b'0') as usize;
        at += 1;
    }
    assert!(sum >= 2 && sum <= 1024, "MEMLOG_CNK_MIB is from 2 to 1024");
    sum
}

#[repr(C, align(4096))]
struct Bytes(UnsafeCell<[u8; BYTES]>);

/// The memory.
pub struct Arena {
    bytes: Bytes,
    used: AtomicUsize,
}

// SAFETY: see the head of this file.
unsafe impl Sync for Arena {}

impl Arena {
    /// All of it free.
    #[cfg(memlog_cnk)]
    pub const fn new() -> Self {
        Self {
            bytes: Bytes(UnsafeCell::new([0; BYTES])),
            used: AtomicUsize::new(0),
        }
    }

    /// Zeroed memory, or null.
    pub fn take(&self, bytes: usize) -> *mut u8 {
        let need = bytes.max(1).checked_next_multiple_of(PAGE);
        let order = Ordering::Relaxed;
        let taken = need.and_then(|need| {
            let fits = |used: usize| used.checked_add(need).filter(|&end| end <= BYTES);
            self.used.fetch_update(order, order, fits).ok()
        });
        taken.map_or(core::ptr::null_mut(), |start| {
            self.bytes.0.get().cast::<u8>().wrapping_add(start)
        })
    }

    /// Bytes handed out so far.
    #[cfg(test)]
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}
