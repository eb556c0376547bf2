//! Processors whose instructions are not read: the ABI chains their frames, or
//! what no table describes is left to frame pointers.

use crate::unwind::code::Effect;

/// Whether instructions can be read.
pub const READS_CODE: bool = false;
/// Bytes of the longest instruction.
pub const LONGEST: usize = 4;
/// Registers that calls preserve, by DWARF number; the frame pointer among them.
pub const PRESERVED: [usize; 0] = [];
/// The stack is aligned to so much where a call is made.
pub const CALL_ALIGNMENT: i64 = 16;

/// Functions that no call returns from, each with the function of libc that the
/// outermost frame which calls it lies beside.
pub fn endings() -> [(u64, u64); 2] {
    [(0, 0); 2]
}

/// Where libc keeps the address of the environment, or 0.
pub fn environment() -> u64 {
    0
}

/// What the loader tells debuggers: where it is, and where its address is; 0
/// for what this loader has not.
pub fn loader_debug() -> (u64, u64) {
    (0, 0)
}

/// Bytes of the instruction that hands what a call returned to the next one,
/// without the prefix of a wide one.
pub const HAND_ON_BYTES: u64 = 4;
/// Bytes of a call to a place that is said.
pub const CALL_BYTES: u64 = 4;

/// The instruction at the front: its bytes, and what it does.
pub fn decode(_: &[u8]) -> Option<(usize, Effect)> {
    None
}
