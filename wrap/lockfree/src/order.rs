//! Ownership cells: which events on an address need a number, and the number.
//!
//! The rule is drawn in `memlog_format::order`. A cell is one word: 0 empty,
//! `OWNED | stream`, or the next number plus one. It is read after the real
//! allocation and before the real release, so that whoever passes a block to
//! another thread, through the allocator or the program, passes the sight of
//! the cell with it: the owner cannot miss that the cell became shared.

use crate::sync::{AtomicU64, Ordering};
use memlog_format::order::{CELLS, cell};

const OWNED: u64 = 1 << 63;

/// The cells of the process.
#[derive(Clone, Copy)]
pub struct Cells {
    cells: &'static [AtomicU64],
}

impl Cells {
    /// Over zeroed words, [`CELLS`] of them or a smaller power of two in tests.
    pub const fn new(cells: &'static [AtomicU64]) -> Self {
        Self { cells }
    }

    /// Bytes that the words of a process take.
    pub const BYTES: usize = 8 * CELLS;

    /// Whether an event on `address` needs no number: [`number`](Self::number)
    /// would give none, and leave the cell as it is.
    #[inline(always)]
    pub fn is_own(&self, address: u64, stream: u32) -> bool {
        let index = cell(address) & self.cells.len().wrapping_sub(1);
        let cell = self.cells.get(index);
        // Acquire as in `number`.
        cell.is_some_and(|cell| cell.load(Ordering::Acquire) == OWNED | u64::from(stream))
    }

    /// The number that this stream's event on `address` takes, if it needs one.
    #[inline]
    pub fn number(&self, address: u64, stream: u32) -> Option<u64> {
        let index = cell(address) & self.cells.len().wrapping_sub(1);
        let cell = self.cells.get(index)?;
        // Acquire pairs with the AcqRel exchanges below; the order between two
        // accesses of one address comes from the program's own hand-over.
        let seen = cell.load(Ordering::Acquire);
        if seen == OWNED | u64::from(stream) {
            return None;
        }
        Self::claim_or_count(cell, seen, stream)
    }

    #[cold]
    fn claim_or_count(cell: &AtomicU64, mut seen: u64, stream: u32) -> Option<u64> {
        let mine = OWNED | u64::from(stream);
        loop {
            let next = match seen {
                0 => mine,
                _ if seen == mine => return None,
                // Another stream's: from here on everybody counts, and this
                // event is number 0, so the next is 1, stored as 2.
                _ if seen & OWNED != 0 => 2,
                // Shared is for ever: nothing but numbers follows.
                _ => return Some(cell.fetch_add(1, Ordering::AcqRel) - 1),
            };
            let order = (Ordering::AcqRel, Ordering::Acquire);
            match cell.compare_exchange(seen, next, order.0, order.1) {
                Ok(_) if next == mine => return None,
                Ok(_) => return Some(0),
                Err(now) => seen = now,
            }
        }
    }
}
