//! Addresses for blocks whose source has none: no two that are live overlap, and those of
//! blocks that went are used again, so that they stay few and near.

use std::collections::HashMap;

/// The first of a block that is one of many, and where they end.
const BASE: u64 = 1 << 32;
const END: u64 = 1 << 62;

#[derive(Default)]
pub(crate) struct Addresses {
    used: u64,
    /// Of those for which there is no room: sizes that no memory has.
    beyond: u64,
    /// By the room that they have.
    free: HashMap<u64, Vec<u64>>,
}

fn room(size: u64) -> u64 {
    // A size that is no size still is one block.
    size.clamp(1, END).next_multiple_of(16)
}

impl Addresses {
    /// One that no block has.
    pub(crate) fn take(&mut self, size: u64) -> u64 {
        let free = self.free.get_mut(&room(size)).and_then(Vec::pop);
        free.or_else(|| self.run(size, 1)).unwrap_or_else(|| {
            self.beyond += 16;
            END + self.beyond
        })
    }

    /// So many side by side, each with room for a size; nothing where there are not as many.
    pub(crate) fn run(&mut self, size: u64, count: u64) -> Option<u64> {
        let first = BASE + self.used;
        let bytes = room(size).checked_mul(count)?;
        let used = self.used.checked_add(bytes)?;
        if used > END - BASE {
            return None;
        }
        self.used = used;
        Some(first)
    }

    /// Whether a block there is one of these, of the sizes that memory has.
    pub(crate) fn has(&self, address: u64) -> bool {
        (BASE..BASE + self.used).contains(&address)
    }

    /// The block there went.
    pub(crate) fn give_back(&mut self, address: u64, size: u64) {
        self.free.entry(room(size)).or_default().push(address);
    }

    /// The distance between those of a run.
    pub(crate) fn step(size: u64) -> u64 {
        room(size)
    }
}
