//! While recording is off, doors may hand calls on without a handler, on processors
//! whose doors look here: as long as the word that `memlog ctl` writes has not changed.
#![allow(unsafe_code)]
//! # Safety
//! The two words are statics of the assembly. What the first one leads to stays mapped.

use super::arch::memlog_quick;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

static NOBODY: AtomicU64 = AtomicU64::new(0);

fn words() -> &'static [AtomicUsize; 2] {
    // SAFETY: see the head of this file.
    unsafe { &memlog_quick }
}

/// Doors ask their handlers again.
pub fn clear() {
    words()[0].store(0, Ordering::Release);
}

/// Doors hand calls on while there is nobody who could ask.
pub fn begin() {
    aim(&NOBODY, 0);
}

/// Doors hand calls on while this word has what is expected of it.
pub fn aim(word: &'static AtomicU64, expected: u64) {
    let [address, value] = words();
    let (to, expected) = (word as *const AtomicU64 as usize, expected.to_le() as usize);
    let order = Ordering::Relaxed;
    if address.load(order) == to && value.load(order) == expected {
        return;
    }
    // First none, or a door could compare with what is expected of the word before.
    address.store(0, Ordering::Release);
    value.store(expected, Ordering::Release);
    address.store(to, Ordering::Release);
}
