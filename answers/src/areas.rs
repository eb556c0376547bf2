//! The areas of mappings in the time of blocks: which blocks came to lie in them.

use std::ops::RangeInclusive;

use memlog_table::{Column, Columns, Rows, Table};

use crate::choice::Choice;
use crate::pass;
use crate::world::{Damaged, Moments, Of, World};

/// A part of a mapping, and the events of blocks between which it was there. The clock
/// is all that blocks and mappings have in common, and ticks are long: so `first` is the
/// first event of the tick in which it came, and `last` that of the one in which it went.
#[derive(Clone, Copy, Debug)]
struct Part {
    start: u64,
    end: u64,
    first: u64,
    last: u64,
    /// Its number.
    born: u64,
}

/// Mappings whose blocks are asked for, among all others: parts by their first byte, with
/// the farthest end of all up to each.
#[derive(Debug)]
pub struct AreasInTime {
    numbers: RangeInclusive<u64>,
    parts: Vec<Part>,
    ends: Vec<u64>,
}

impl AreasInTime {
    /// Those of the mappings with such numbers.
    pub(crate) fn of(
        world: &World,
        mappings: &Table,
        numbers: RangeInclusive<u64>,
    ) -> Result<Self, Damaged> {
        let maps = World::nameless(mappings, Of::Mappings, Moments::default(), world.tick_ns);
        let (steps, own) = (world.table.steps(), mappings.steps());
        let columns = Columns::of(&[Column::Address, Column::Size, Column::Born, Column::Died]);
        let each = |parts: &mut Vec<Part>, rows: &Rows, chosen: &[usize]| {
            parts.extend(chosen.iter().map(|&row| {
                let get = |column| rows.get(column, row);
                let start = get(Column::Address);
                let born = get(Column::Born);
                let before = own.tick_of(born).checked_sub(1);
                Part {
                    born,
                    start,
                    end: start.saturating_add(get(Column::Size)),
                    first: before.map_or(0, |before| steps.event_at(before) + 1),
                    last: match get(Column::Died) {
                        memlog_table::NEVER => u64::MAX,
                        died => steps.event_at(own.tick_of(died)),
                    },
                }
            }));
        };
        let mut parts = pass::over(&maps, &Choice::all(), columns, each, |mut all, mut one| {
            all.append(&mut one);
            all
        })?;
        parts.sort_unstable_by_key(|part| part.start);
        let ends = parts.iter().scan(0, |farthest, part| {
            *farthest = part.end.max(*farthest);
            Some(*farthest)
        });
        let ends = ends.collect();
        Ok(Self {
            numbers,
            parts,
            ends,
        })
    }

    /// Whether what came to lie there at an event lay in one of them. Of two that were
    /// there in the same tick the later one counts, so that a block is in one at most.
    pub(crate) fn has(&self, address: u64, event: u64) -> bool {
        let before = self.parts.partition_point(|part| part.start <= address);
        let parts = self.parts[..before].iter().zip(&self.ends).rev();
        // None of those before ends behind the address.
        let near = parts.take_while(|(_, end)| address < **end);
        let there = near.filter(|(part, _)| address < part.end && part.first <= event);
        let latest = there.max_by_key(|(part, _)| part.born);
        latest.is_some_and(|(part, _)| event <= part.last && self.numbers.contains(&part.born))
    }
}
