//! Processors on which Go's way between stacks is not read.

use crate::platform::rules::Back;

/// Bytes that are looked at behind a call.
pub const BACK_BYTES: usize = 4;
/// Bytes that are looked at around where a routine ends.
pub const END_BYTES: usize = 4;
/// How many of them lie before it.
pub const END_BEFORE: usize = 0;
/// Functions begin at multiples of this.
pub const ALIGNED: u64 = 4;
/// Bytes before a function that are looked at.
pub const FILLING_BYTES: usize = 2;

/// How the function goes back to the stack that it was called on, if this is all
/// that it does behind a call.
pub fn back(_: &[u8]) -> Option<Back> {
    None
}

/// Whether a routine ends where these bytes are.
pub fn is_routines_end(_: u64, _: &[u8; END_BYTES]) -> bool {
    false
}

/// Whether these bytes fill what a function leaves free before the next one.
pub fn is_filling(_: &[u8; FILLING_BYTES]) -> bool {
    false
}
