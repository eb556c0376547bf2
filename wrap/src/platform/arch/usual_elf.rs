//! Processors whose dynamic sections are as everywhere, and whose programs
//! begin in code that unwind tables describe.

/// Tags that lead to the address of what the loader tells debuggers: of one the
/// value is how far that place is from the tag, of the other the place; none.
pub const DEBUG: [u64; 2] = [u64::MAX; 2];
/// How many symbols there are; none, hash tables say it.
pub const SYMBOLS: u64 = u64::MAX;

/// What stands behind the last call of the code that a program begins with.
pub const BEHIND_ENTRY: &[&[u8]] = &[];
