//! The blocks that an address was in.

use memlog_table::{Column, Columns, Flags, NEVER, Rows};

use crate::choice::{Choice, Test, is_mmapped};
use crate::pass;
use crate::world::{Damaged, World};

/// A block, with all that is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The event that it came at, which names it.
    pub born: u64,
    /// The event that it went at.
    pub died: Option<u64>,
    /// Its first byte.
    pub address: u64,
    /// Bytes asked for.
    pub size: u64,
    /// Bytes given beyond those.
    pub waste: u64,
    /// The stack that asked, by its number.
    pub stack: u32,
    /// The stack that released it, where that was recorded.
    pub release_stack: Option<u32>,
    /// The thread that asked, by its place.
    pub thread: usize,
    /// The scopes that it was in, by their place.
    pub scope: usize,
    /// The thread that released it.
    pub releaser: Option<usize>,
    /// How it came and went.
    pub flags: Flags,
    /// Its place in its chain of reallocs, from 0.
    pub chain_place: u64,
    /// The event that the chain's first block came at.
    pub chain: u64,
}

impl Found {
    /// That of a row with all its columns.
    pub(crate) fn of(world: &World, rows: &Rows, row: usize) -> Self {
        let get = |column| rows.get(column, row);
        let died = Some(get(Column::Died)).filter(|&died| died != NEVER);
        let release_stack = get(Column::ReleaseStack).checked_sub(1);
        Self {
            born: get(Column::Born),
            died,
            address: get(Column::Address),
            size: get(Column::Size),
            waste: get(Column::Waste),
            stack: world.number(get(Column::Stack)),
            release_stack: release_stack.map(|place| world.number(place)),
            thread: get(Column::Thread) as usize,
            scope: get(Column::Scope) as usize,
            releaser: died.map(|_| get(Column::Releaser) as usize),
            flags: Flags(get(Column::Flags)),
            chain_place: get(Column::ChainPlace),
            chain: get(Column::Born).saturating_sub(get(Column::ChainAge)),
        }
    }

    /// Whether it grew out of another, or another out of it.
    pub fn is_in_chain(&self) -> bool {
        self.chain_place > 0 || self.flags.is_moved()
    }

    /// Whether glibc mapped it by itself.
    pub fn is_mmapped(&self) -> bool {
        is_mmapped(self.size, self.waste)
    }
}

/// Chosen blocks that have this address among their bytes, in the order of their
/// coming; `most` of them, the last ones, and how many there are.
pub fn found_at(
    world: &World,
    choice: &Choice,
    address: u64,
    most: usize,
) -> Result<(Vec<Found>, u64), Damaged> {
    let choice = choice.clone().and(Test::Contains(address));
    let mut all = pass::over(
        world,
        &choice,
        Columns::ALL,
        |found: &mut Vec<Found>, rows, chosen| {
            found.extend(chosen.iter().map(|&row| Found::of(world, rows, row)));
        },
        |mut all, mut one| {
            all.append(&mut one);
            all
        },
    )?;
    all.sort_unstable_by_key(|found| (found.born, found.address));
    let count = all.len() as u64;
    all.drain(..all.len().saturating_sub(most));
    Ok((all, count))
}
