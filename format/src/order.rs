//! What orders the events on one address when several threads touch it.
//!
//! Addresses fall into cells by their page. A cell is owned by the first
//! stream that touches it; while it is, the stream's own order is the order
//! and its events carry no number. The first touch by another stream makes
//! the cell shared for ever: from then on each event in it takes the cell's
//! next number (an allocation after the real call, a release before it).
//! So, for each cell, the unnumbered events form a prefix made by one stream
//! and the rest is numbered without gaps, but for what was lost.

/// Number of cells, a power of two.
pub const CELLS: usize = 1 << CELL_BITS;
/// Its logarithm.
pub const CELL_BITS: u32 = 16;

/// The cell of an address. Neighbouring pages get neighbouring cells, so that
/// a thread's own heap stays in few cache lines; the multiplied high bits keep
/// the arenas of different threads apart although they are aligned alike.
#[inline]
pub const fn cell(address: u64) -> usize {
    let page = address >> 12;
    let arena = (address >> 26).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48;
    ((page ^ arena) & (CELLS as u64 - 1)) as usize
}
