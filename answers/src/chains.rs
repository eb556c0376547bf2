//! What reallocs grew: the blocks of a chain are one object that moved.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use memlog_table::{Column, Columns, Flags, NEVER};

use crate::chain::{ChainFacts, first_of_chain};
use crate::choice::Choice;
use crate::keys::{By, Keys};
use crate::pass;
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
    let columns = Columns::of(&[
        Column::Born,
        Column::Died,
        Column::Size,
        Column::Stack,
        Column::Releaser,
        Column::ReleaseStack,
        Column::Flags,
        Column::ChainAge,
        Column::ChainPlace,
    ]);
    let mut chains = pass::over(
        world,
        &Choice::all(),
        columns,
        |chains: &mut Chains, rows, chosen| {
            for &row in chosen {
                let is_moved = Flags(rows.get(Column::Flags, row)).is_moved();
                let first = first_of_chain(rows, row);
                let is_part = is_moved || rows.get(Column::ChainPlace, row) > 0;
                if is_part && is_wanted(first) {
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
/// outgrew most bytes first.
pub fn chains(world: &World, choice: &Choice, by: By) -> Result<Vec<ChainRow>, Damaged> {
    let all = facts(world)?;
    let columns = Columns::of(&[
        Column::Born,
        Column::ChainAge,
        Column::ChainPlace,
        Column::Flags,
    ]);
    let chosen = pass::over(
        world,
        choice,
        columns,
        |firsts: &mut Vec<u64>, rows, chosen| {
            firsts.extend(chosen.iter().map(|&row| first_of_chain(rows, row)));
        },
        |mut all, mut one| {
            all.append(&mut one);
            all
        },
    )?;
    let chosen: HashSet<u64> = chosen.into_iter().collect();
    let mut keys = Keys::new(world, by);
    let mut rows: Vec<ChainRow> = Vec::new();
    for facts in all
        .iter()
        .filter(|(first, _)| chosen.contains(first))
        .map(|(_, facts)| facts)
    {
        let key = keys.of(facts.stack) as usize;
        rows.resize_with(keys.len(), ChainRow::default);
        let row = &mut rows[key];
        row.chains += 1;
        row.blocks += facts.length;
        row.longest = row.longest.max(facts.length);
        row.last_bytes = row.last_bytes.saturating_add(facts.last_size);
        row.reserve = row.reserve.max(facts.largest);
        row.outgrown = row.outgrown.saturating_add(facts.outgrown);
        row.leaked += u64::from(facts.died == NEVER);
    }
    for (row, name) in rows.iter_mut().zip(keys.into_names()) {
        row.name = name;
    }
    rows.sort_by(|one, other| {
        let by_bytes = other.outgrown.cmp(&one.outgrown);
        by_bytes
            .then(other.chains.cmp(&one.chains))
            .then(one.name.cmp(&other.name))
    });
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use memlog_format::api::Api;
    use memlog_format::event::{Alloc, Release};
    use memlog_format::table::StackId;
    use memlog_read::{Place, Taker};
    use memlog_table::{Builder, Table};

    use super::*;
    use crate::world::{Moments, Of};

    /// Three blocks that are grown twice each, one after the other.
    fn table() -> Vec<u8> {
        let mut builder = Builder::new(Vec::new(), b"key");
        builder.log(0, 1 << 20);
        builder.start(0);
        let mut tick = 0;
        let mut place = || {
            tick += 1;
            Place {
                stream: 0,
                tid: 1,
                tick,
            }
        };
        for chain in 0..3u64 {
            for step in 0..3u64 {
                let address = |step: u64| (chain * 10 + step) * 4096;
                if step > 0 {
                    let release = Release {
                        api: Api::Realloc,
                        address: address(step - 1),
                        announced: true,
                        stack: None,
                        order: None,
                    };
                    builder.release(place(), &release);
                }
                let alloc = Alloc {
                    api: if step == 0 { Api::Malloc } else { Api::Realloc },
                    address: address(step),
                    size: 10 * (step + 1),
                    usable: 40,
                    alignment_log2: 0,
                    stack: StackId(1),
                    order: None,
                };
                builder.alloc(place(), &alloc);
            }
        }
        builder.finish(None, b"").expect("a sink takes all")
    }

    #[test]
    fn some_chains_are_those_of_all() {
        let bytes = table();
        let table = Table::open(&bytes, b"key", u64::MAX).expect("a table");
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
