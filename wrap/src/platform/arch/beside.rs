//! Packed rules of processors whose functions save the return address and the
//! caller's frame pointer beside each other.

use crate::platform::rules::Saved;

/// What a packed rule keeps of where a frame saved the return address and the
/// caller's fp; nothing where that is not as nearly all frames do it: the two
/// beside each other, fp below, anywhere in the frame, as under the arguments
/// that a function of any number of them keeps; or the address alone.
/// The lowest bit is set for both, the others are the words from the CFA down
/// to the address.
#[inline]
pub const fn saved_words(return_address: Saved, fp: Saved) -> Option<u64> {
    let Saved::At(at @ ..0) = return_address else {
        return None;
    };
    if at % 8 != 0 || at < -8 * (1 << 16) {
        return None;
    }
    let words = at.unsigned_abs() / 8;
    match fp {
        Saved::At(fp) if fp == at - 8 => Some(words << 1 | 1),
        Saved::Unset | Saved::Same | Saved::Undefined => Some(words << 1),
        _ => None,
    }
}

/// Bytes from the CFA down to the return address.
#[inline(always)]
pub const fn return_below(saved: u64) -> u64 {
    (saved >> 1).wrapping_mul(8)
}

/// Bytes from the CFA down to the caller's fp; 0: it is still in its register.
#[inline(always)]
pub const fn fp_below(saved: u64) -> u64 {
    match saved & 1 {
        0 => 0,
        _ => return_below(saved).wrapping_add(8),
    }
}
