//! What there is to say of some blocks.

use memlog_table::NEVER;

/// Sums over blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Bytes asked for.
    pub bytes: u64,
    /// How many.
    pub blocks: u64,
    /// Bytes given beyond those asked for.
    pub waste: u64,
    /// The smallest and the largest.
    pub sizes: (u64, u64),
    /// Those that were never released.
    pub leaked_bytes: u64,
    /// Those that were never released.
    pub leaked_blocks: u64,
    /// Those that went before their thread asked for another.
    pub temporary_blocks: u64,
    /// When the first of them came, and the last.
    pub born: (u64, u64),
}

/// A block, as far as it is summed up.
#[derive(Clone, Copy, Debug)]
pub struct One {
    pub size: u64,
    pub waste: u64,
    pub born: u64,
    pub died: u64,
    pub is_temporary: bool,
}

impl Sums {
    /// One block more.
    #[inline]
    pub fn add(&mut self, one: &One) {
        let is_first = self.blocks == 0;
        let wider = |(least, most): (u64, u64), value: u64| match is_first {
            true => (value, value),
            false => (least.min(value), most.max(value)),
        };
        self.sizes = wider(self.sizes, one.size);
        self.born = wider(self.born, one.born);
        self.bytes = self.bytes.saturating_add(one.size);
        self.blocks += 1;
        self.waste = self.waste.saturating_add(one.waste);
        if one.died == NEVER {
            self.leaked_bytes = self.leaked_bytes.saturating_add(one.size);
            self.leaked_blocks += 1;
        }
        self.temporary_blocks += u64::from(one.is_temporary);
    }

    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        if self.blocks == 0 {
            return other;
        }
        if other.blocks == 0 {
            return self;
        }
        let wider = |one: (u64, u64), other: (u64, u64)| (one.0.min(other.0), one.1.max(other.1));
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            blocks: self.blocks + other.blocks,
            waste: self.waste.saturating_add(other.waste),
            sizes: wider(self.sizes, other.sizes),
            leaked_bytes: self.leaked_bytes.saturating_add(other.leaked_bytes),
            leaked_blocks: self.leaked_blocks + other.leaked_blocks,
            temporary_blocks: self.temporary_blocks + other.temporary_blocks,
            born: wider(self.born, other.born),
        }
    }
}
