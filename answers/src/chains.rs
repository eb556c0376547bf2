//! What reallocs grew: the blocks of a chain are one object that moved.

use std::collections::HashMap;

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
    let chosen: std::collections::HashSet<u64> = chosen.into_iter().collect();
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
