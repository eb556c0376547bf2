//! How the index begins, and grows into one of twice the size.

use super::{IdTable, MAX_PROBES, Memory, Tag};
use crate::sync::{AtomicU64, Ordering};

/// Log2 of the first index's size.
const FIRST_LOG2: u32 = if cfg!(loom) { 2 } else { 12 };

impl<const W: usize, const P: u32, const F: u32, const C: usize> IdTable<W, P, F, C> {
    /// Sees to it that there is an index, at most half full.
    pub fn make_room(&self, memory: &impl Memory) {
        let log2 = self.log2.load(Ordering::Acquire);
        let indexed = self.indexed.load(Ordering::Relaxed) as usize;
        let full = log2 == 0 || indexed >= 1usize << (log2 - 1);
        if !full || self.growing.swap(1, Ordering::AcqRel) == 1 {
            return;
        }
        // Another may have grown it between the look and the swap.
        if self.log2.load(Ordering::Acquire) == log2 {
            self.grow(log2, memory);
        }
        self.growing.store(0, Ordering::Release);
    }

    fn grow(&self, log2: u32, memory: &impl Memory) {
        let next = if log2 == 0 { FIRST_LOG2 } else { log2 + 1 };
        let Some(place) = self.indexes.get(next as usize) else {
            return;
        };
        let Some(index) = memory.index(1 << next) else {
            return;
        };
        let old = self.index(log2);
        for entry in old.unwrap_or(&[]) {
            let entry = entry.load(Ordering::Acquire);
            if entry != 0 {
                Self::copy_entry(entry, index);
            }
        }
        place.store(index.as_ptr() as usize, Ordering::Release);
        self.log2.store(next, Ordering::Release);
        if let Some(old) = old {
            memory.retire(old);
        }
    }

    fn copy_entry(entry: u64, index: &[AtomicU64]) {
        let tag = Tag::in_entry(entry);
        let mask = index.len().wrapping_sub(1);
        for probe in 0..MAX_PROBES {
            let Some(place) = index.get((tag.0 as usize).wrapping_add(probe) & mask) else {
                return;
            };
            if place.load(Ordering::Relaxed) == 0 {
                place.store(entry, Ordering::Release);
                return;
            }
        }
    }
}
