//! Processors on which no C library is met that keeps its outermost frames
//! without a word of them.

/// The functions that the outermost frames of a process and of its threads call
/// last; each with the function of libc that those frames lie beside, and how
/// far from its beginning at most.
pub fn endings() -> [(u64, u64, u64); 2] {
    [(0, 0, 0); 2]
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

/// Bytes of the longest code that hands what a call returned to another.
pub const HANDED_BYTES: usize = 8;

/// Whom this code calls with what a call before it returned, if that is all it
/// does; from its beginning, how far, and how many bytes it is.
pub fn handed_to(_: &[u8]) -> Option<(i64, usize)> {
    None
}
