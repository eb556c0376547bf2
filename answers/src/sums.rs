//! What there is to say of some blocks.

use memlog_analysis::Held;
use memlog_table::{Column, Columns, Flags, NEVER, Rows};

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

impl Sums {
    /// What is read of a row.
    pub(crate) const COLUMNS: Columns = Columns::NONE
        .with(Column::Size)
        .with(Column::Waste)
        .with(Column::Born)
        .with(Column::Died)
        .with(Column::Flags);

    /// One block more.
    #[inline]
    pub(crate) fn add(&mut self, rows: &Rows, row: usize) {
        let get = |column| rows.get(column, row);
        let (size, born) = (get(Column::Size), get(Column::Born));
        let is_first = self.blocks == 0;
        let wider = |(least, most): (u64, u64), value: u64| match is_first {
            true => (value, value),
            false => (least.min(value), most.max(value)),
        };
        self.sizes = wider(self.sizes, size);
        self.born = wider(self.born, born);
        self.bytes = self.bytes.saturating_add(size);
        self.blocks += 1;
        self.waste = self.waste.saturating_add(get(Column::Waste));
        if get(Column::Died) == NEVER {
            self.leaked_bytes = self.leaked_bytes.saturating_add(size);
            self.leaked_blocks += 1;
        }
        let flags = Flags(get(Column::Flags));
        self.temporary_blocks += u64::from(flags.is_temporary());
    }

    /// Its bytes and blocks alone.
    pub fn held(&self) -> Held {
        Held {
            bytes: self.bytes,
            blocks: self.blocks,
        }
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
