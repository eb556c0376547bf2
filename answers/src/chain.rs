//! One chain of reallocs: what is known of it, and what it is asked.

use memlog_table::{Column, NEVER, Rows};

use crate::world::World;

/// What is known of a chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChainFacts {
    /// How many blocks it has.
    pub length: u64,
    /// Of its first block.
    pub first_size: u64,
    /// Of its last.
    pub last_size: u64,
    /// Of its largest.
    pub largest: u64,
    /// Bytes of all but the last: what a realloc may have copied.
    pub outgrown: u64,
    /// When its last block went.
    pub died: u64,
    /// The stack that asked for the last, by its number.
    pub stack: u32,
    /// The thread that released the last, by its place; of no meaning if it did not go.
    pub releaser: usize,
    /// The stack that did, where that was recorded.
    pub release_stack: Option<u32>,
    /// The place of the last.
    place: u64,
}

impl ChainFacts {
    /// Of a block that no realloc came from or took.
    pub(crate) fn of_one(rows: &Rows, row: usize) -> Self {
        let size = rows.get(Column::Size, row);
        Self {
            length: 1,
            first_size: size,
            last_size: size,
            largest: size,
            outgrown: 0,
            died: rows.get(Column::Died, row),
            stack: 0,
            releaser: 0,
            release_stack: None,
            place: 0,
        }
    }

    /// The event at which its last block went, if it did.
    pub fn last_release(&self) -> Option<u64> {
        Some(self.died).filter(|&died| died != NEVER)
    }

    pub(crate) fn take(&mut self, world: &World, rows: &Rows, row: usize) {
        let size = rows.get(Column::Size, row);
        let place = rows.get(Column::ChainPlace, row);
        self.length += 1;
        self.largest = self.largest.max(size);
        if place == 0 {
            self.first_size = size;
        }
        // Of all but the last the size is added once it is known which that is.
        self.outgrown = self.outgrown.saturating_add(size);
        if self.length == 1 || place >= self.place {
            self.place = place;
            self.last_size = size;
            self.died = rows.get(Column::Died, row);
            self.stack = world.number(rows.get(Column::Stack, row));
            self.releaser = rows.get(Column::Releaser, row) as usize;
            let release_stack = rows.get(Column::ReleaseStack, row).checked_sub(1);
            self.release_stack = release_stack.map(|place| world.number(place));
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        let last = if self.place >= other.place {
            self
        } else {
            other
        };
        Self {
            length: self.length + other.length,
            first_size: self.first_size.max(other.first_size),
            largest: self.largest.max(other.largest),
            outgrown: self.outgrown.saturating_add(other.outgrown),
            ..last
        }
    }

    pub(crate) fn answers(&self, asked: ChainTest, first: u64, world: &World) -> bool {
        let is_in = |from: u64, to: u64, value: u64| (from..=to).contains(&value);
        match asked {
            ChainTest::Length(from, to) => is_in(from, to, self.length),
            ChainTest::Lifetime(from, to) => is_in(from, to, world.lifetime(first, self.died)),
            ChainTest::FirstSize(from, to) => is_in(from, to, self.first_size),
            ChainTest::LastSize(from, to) => is_in(from, to, self.last_size),
            ChainTest::Leaked => self.died == NEVER,
        }
    }
}

/// What a chain of reallocs is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainTest {
    /// It has so many blocks.
    Length(u64, u64),
    /// It lived so many ticks.
    Lifetime(u64, u64),
    /// Its first block has such a size.
    FirstSize(u64, u64),
    /// Its last block has such a size.
    LastSize(u64, u64),
    /// Its last block never went.
    Leaked,
}

/// When the first block of a row's chain came, which names the chain.
pub(crate) fn first_of_chain(rows: &Rows, row: usize) -> u64 {
    let age = rows.get(Column::ChainAge, row);
    rows.get(Column::Born, row).saturating_sub(age)
}
