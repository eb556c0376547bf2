//! Processors whose instructions are not read: no C library is met on them that
//! has neither tables nor a chain of frames.

use crate::platform::rules::Effect;

/// Whether instructions can be read.
pub const READS_CODE: bool = false;
/// Bytes of the longest instruction.
pub const LONGEST: usize = 4;
/// Registers that calls preserve, by DWARF number; the frame pointer among them.
pub const PRESERVED: [usize; 0] = [];
/// Bytes before a return address that tell whom the call was for.
pub const BEFORE: usize = 6;

/// Whom a call was for, by the bytes before its return address: how far from
/// there that is said to be, and whether there lies the address instead.
pub fn called(_: &[u8; BEFORE]) -> Option<(i64, bool)> {
    None
}

/// The instruction at the front: its bytes, and what it does.
pub fn decode(_: &[u8]) -> Option<(usize, Effect)> {
    None
}

/// Bytes of the longest call.
pub const LONGEST_CALL: usize = 4;

/// Whether bytes end in a call.
pub fn ends_in_call(_: &[u8; LONGEST_CALL]) -> bool {
    false
}
