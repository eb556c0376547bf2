//! What reallocs grew: the blocks of a chain are one object that moved.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use memlog_table::{Column, Columns, Flags, NEVER, Rows};

use crate::chain::{ChainFacts, first_of_chain};
use crate::choice::Choice;
use crate::keys::{By, Keys};
use crate::pass;
use crate::stop;
use crate::world::{Damaged, World};

/// Chains of two blocks and more, by the event that their first block came at.
pub type Chains = HashMap<u64, ChainFacts, RandomState>;

/// All of them.
pub fn facts(world: &World) -> Result<Chains, Damaged> {
    gathered(world, |_| true)
}

/// Those whose first block came at one of these events: of a part of a list, whose chains
/// take no more memory than that part.
pub fn facts_of(world: &World, firsts: &HashSet<u64, RandomState>) -> Result<Chains, Damaged> {
    match firsts.is_empty() {
        true => Ok(Chains::default()),
        false => gathered(world, |first| firsts.contains(&first)),
    }
}

fn gathered(world: &World, is_wanted: impl Fn(u64) -> bool + Sync) -> Result<Chains, Damaged> {
    let mut chains = pass::over(
        world,
        &Choice::all(),
        columns(),
        |chains: &mut Chains, rows, chosen| {
            for &row in chosen {
                if let Some(first) = grown_from(rows, row).filter(|&first| is_wanted(first)) {
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
    chains.retain(|_, facts| facts.length > 1);
    for facts in chains.values_mut() {
        facts.outgrown = facts.outgrown.saturating_sub(facts.last_size);
    }
    Ok(chains)
}

/// Whether a realloc gave the block another place.
fn is_moved(rows: &Rows, row: usize) -> bool {
    Flags(rows.get(Column::Flags, row)).is_moved()
}

/// The first block of a row's chain, if there is more of it: by its event. Blocks of before
/// the log are in no chain.
fn grown_from(rows: &Rows, row: usize) -> Option<u64> {
    let is_part = is_moved(rows, row) || rows.get(Column::ChainPlace, row) > 0;
    let first = first_of_chain(rows, row);
    (is_part && first > 0).then_some(first)
}

/// What is read of a block for its chain.
fn columns() -> Columns {
    Columns::of(&[
        Column::Born,
        Column::Died,
        Column::Size,
        Column::Stack,
        Column::Releaser,
        Column::ReleaseStack,
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
    let stop = stop::current();
    for chunk in 0..world.table.chunks().len() {
        if stop::is_set(&stop) {
            return Err(Damaged);
        }
        let read = world.table.read(chunk, columns, &mut rows);
        read.map_err(|_| Damaged)?;
        choice.choose(world, &rows, &mut mask);
        for (row, is_chosen) in mask.iter().enumerate() {
            let Some(first) = grown_from(&rows, row) else {
                continue;
            };
            let chain = open.entry(first).or_default();
            chain.0.take(world, &rows, row);
            chain.1 |= is_chosen;
            if !is_moved(&rows, row)
                && let Some((facts, true)) = open.remove(&first)
            {
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

#[cfg(test)]
mod tests {
    use memlog_format::api::Api;
    use memlog_table::Table;

    use super::*;
    use crate::making::{KEY, Making};
    use crate::world::{Moments, Of};

    /// Three blocks that are grown twice each, one after the other.
    fn table() -> Vec<u8> {
        let mut making = Making::begin();
        for chain in 0..3u64 {
            let address = |step: u64| (chain * 10 + step) * 4096;
            making.alloc(Api::Malloc, address(0), 10, 1);
            for step in 1..3u64 {
                making.release(Api::Realloc, address(step - 1));
                making.alloc(Api::Realloc, address(step), 10 * (step + 1), 1);
            }
        }
        making.end()
    }

    #[test]
    fn some_chains_are_those_of_all() {
        let bytes = table();
        let table = Table::open(&bytes, KEY, u64::MAX).expect("a table");
        let world = World::nameless(&table, Of::Blocks, Moments::default(), 1);
        let all = facts(&world).expect("whole");
        let mut firsts: Vec<u64> = all.keys().copied().collect();
        firsts.sort_unstable();
        assert_eq!(firsts, [1, 6, 11]);
        for first in firsts {
            let some = facts_of(&world, &[first, 7].into_iter().collect()).expect("whole");
            assert_eq!(some.len(), 1);
            assert_eq!(some.get(&first), all.get(&first));
            let facts = some.get(&first).expect("it is there");
            let sizes = (facts.length, facts.first_size, facts.last_size);
            assert_eq!((sizes, facts.last_release()), ((3, 10, 30), None));
        }
        let none = facts_of(&world, &HashSet::default()).expect("whole");
        assert!(none.is_empty());
    }
}
