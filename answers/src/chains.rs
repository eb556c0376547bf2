//! What reallocs grew: the blocks of a chain are one object that moved.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use memlog_table::{Column, Columns, Flags, NEVER, Rows};

use crate::chain::{ChainFacts, first_of_chain};
use crate::choice::Choice;
use crate::keys::{By, Keys};
use crate::pass;
use crate::world::{Damaged, World};

/// All chains with a block that is chosen, by the event that their first block came at.
/// A chain is whole, whichever of its blocks was chosen.
pub fn facts(world: &World) -> Result<HashMap<u64, ChainFacts, RandomState>, Damaged> {
    let mut chains = pass::over(
        world,
        &Choice::all(),
        columns(),
        |chains: &mut HashMap<u64, ChainFacts, RandomState>, rows, chosen| {
            for &row in chosen {
                let is_moved = Flags(rows.get(Column::Flags, row)).is_moved();
                if is_moved || rows.get(Column::ChainPlace, row) > 0 {
                    let first = first_of_chain(rows, row);
                    chains.entry(first).or_default().take(world, rows, row);
                }
            }
        },
        |mut all, one| {
            for (first, facts) in one {
                let known = all.entry(first).or_default();
                *known = match known.length {
                    0 => facts,
                    _ => known.plus(facts),
                };
            }
            all
        },
    )?;
    // Blocks of before the log, which are in no chain.
    chains.remove(&0);
    chains.retain(|_, facts| facts.length > 1);
    for facts in chains.values_mut() {
        facts.outgrown = facts.outgrown.saturating_sub(facts.last_size);
    }
    Ok(chains)
}

/// What is read of a block for its chain.
fn columns() -> Columns {
    Columns::of(&[
        Column::Born,
        Column::Died,
        Column::Size,
        Column::Stack,
        Column::Flags,
        Column::ChainAge,
        Column::ChainPlace,
    ])
}

/// Chains of one group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainRow {
    /// What they have in common.
    pub name: String,
    /// How many chains.
    pub chains: u64,
    /// Blocks of all of them.
    pub blocks: u64,
    /// Blocks of the longest.
    pub longest: u64,
    /// What their last blocks have.
    pub last_bytes: u64,
    /// The largest block: what to reserve.
    pub reserve: u64,
    /// What reallocs may have copied.
    pub outgrown: u64,
    /// Chains whose last block never went.
    pub leaked: u64,
}

/// Chains by what grew them: the place that asked for their last block, those that
/// outgrew most bytes first. A chain is whole, whichever of its blocks was chosen.
///
/// Blocks stand in the order in which they went, and so do those of a chain: one pass
/// keeps those chains only whose last block has not come yet.
pub fn chains(world: &World, choice: &Choice, by: By) -> Result<Vec<ChainRow>, Damaged> {
    let mut keys = Keys::new(world, by);
    let mut groups: Vec<ChainRow> = Vec::new();
    let mut end = |facts: ChainFacts| {
        let key = keys.of(facts.stack) as usize;
        groups.resize_with(keys.len(), ChainRow::default);
        groups[key].take(&facts);
    };
    let mut open: HashMap<u64, (ChainFacts, bool), RandomState> = HashMap::default();
    let (mut rows, mut mask) = (Rows::default(), Vec::new());
    let columns = columns().and(choice.columns());
    for chunk in world.table.chunks() {
        let read = world.table.read(chunk, columns, &mut rows);
        read.map_err(|_| Damaged)?;
        choice.choose(world, &rows, &mut mask);
        for (row, is_chosen) in mask.iter().enumerate() {
            let is_moved = Flags(rows.get(Column::Flags, row)).is_moved();
            let is_part = is_moved || rows.get(Column::ChainPlace, row) > 0;
            let first = first_of_chain(&rows, row);
            // Nor is a block of before the log in a chain.
            if !is_part || first == 0 {
                continue;
            }
            let chain = open.entry(first).or_default();
            chain.0.take(world, &rows, row);
            chain.1 |= is_chosen;
            if !is_moved && let Some((facts, true)) = open.remove(&first) {
                end(facts);
            }
        }
    }
    // Their last blocks are not in the log.
    for (facts, _) in open.into_values().filter(|(_, is_chosen)| *is_chosen) {
        end(facts);
    }
    for (row, name) in groups.iter_mut().zip(keys.into_names()) {
        row.name = name;
    }
    groups.retain(|group| group.chains > 0);
    groups.sort_by(|one, other| {
        let by_bytes = other.outgrown.cmp(&one.outgrown);
        by_bytes
            .then(other.chains.cmp(&one.chains))
            .then(one.name.cmp(&other.name))
    });
    Ok(groups)
}

impl ChainRow {
    fn take(&mut self, chain: &ChainFacts) {
        // What no realloc grew is none.
        if chain.length < 2 {
            return;
        }
        let outgrown = chain.outgrown.saturating_sub(chain.last_size);
        self.chains += 1;
        self.blocks += chain.length;
        self.longest = self.longest.max(chain.length);
        self.last_bytes = self.last_bytes.saturating_add(chain.last_size);
        self.reserve = self.reserve.max(chain.largest);
        self.outgrown = self.outgrown.saturating_add(outgrown);
        self.leaked += u64::from(chain.died == NEVER);
    }
}
