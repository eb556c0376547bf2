//! Mappings as blocks see them.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

use memlog_table::{Column, Columns, NEVER, Rows, Table};

use super::Maker;
use crate::areas::{AreasInTime, Numbers, Part};
use crate::choice::{Choice, Test};
use crate::pass;
use crate::world::{Damaged, Moments, Of, World};

impl Maker<'_, '_, '_> {
    /// Blocks in the mappings with such numbers.
    pub(super) fn in_mappings(
        &self,
        mappings: &Table,
        numbers: RangeInclusive<u64>,
    ) -> Result<Test, Damaged> {
        in_those(self.world, mappings, Numbers::Range(numbers))
    }
}

/// What asks blocks of `world` whether they came to lie in a chosen mapping. Chosen
/// parts of a mapping stand for all of it.
pub fn in_mappings_of(world: &World, maps: &World, choice: &Choice) -> Result<Test, Damaged> {
    let columns = Columns::of(&[Column::Born]);
    let each = |numbers: &mut HashSet<u64>, rows: &Rows, chosen: &[usize]| {
        numbers.extend(chosen.iter().map(|&row| rows.get(Column::Born, row)));
    };
    let numbers = pass::over(maps, choice, columns, each, |mut all, one| {
        all.extend(one);
        all
    })?;
    in_those(world, maps.table, Numbers::Chosen(numbers))
}

fn in_those(world: &World, mappings: &Table, numbers: Numbers) -> Result<Test, Damaged> {
    let maps = World::nameless(mappings, Of::Mappings, Moments::default(), world.tick_ns);
    let (steps, own) = (world.table.steps(), mappings.steps());
    let columns = Columns::of(&[Column::Address, Column::Size, Column::Born, Column::Died]);
    let each = |parts: &mut Vec<Part>, rows: &Rows, chosen: &[usize]| {
        parts.extend(chosen.iter().map(|&row| {
            let get = |column| rows.get(column, row);
            let (start, born) = (get(Column::Address), get(Column::Born));
            let before = own.tick_of(born).checked_sub(1);
            Part {
                born,
                start,
                end: start.saturating_add(get(Column::Size)),
                first: before.map_or(0, |before| steps.event_at(before) + 1),
                last: match get(Column::Died) {
                    NEVER => u64::MAX,
                    died => steps.event_at(own.tick_of(died)),
                },
            }
        }));
    };
    let parts = pass::over(&maps, &Choice::all(), columns, each, |mut all, mut one| {
        all.append(&mut one);
        all
    })?;
    Ok(Test::In(Arc::new(AreasInTime::new(numbers, parts))))
}
