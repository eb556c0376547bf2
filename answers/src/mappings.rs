//! What the program mapped itself: by who did, at a moment and over the whole run.
//!
//! A row of the table is a part of what one call mapped. Parts that came at the same
//! event are of the same call, and one mapping as long as they lie side by side. What the
//! allocator mapped for itself is left out.

use std::collections::BTreeMap;

use memlog_analysis::Held;
use memlog_table::{Column, Columns, Flags, NEVER, Rows};

use crate::choice::{Choice, Test};
use crate::keys::{By, Keys};
use crate::pass;
use crate::world::{Damaged, World};

/// What calls that have something in common mapped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MappingRow {
    /// What they have in common.
    pub name: String,
    /// Mapped at the moment; what was cut in two counts twice.
    pub live: Held,
    /// The part of it that was mapped without any access.
    pub reserved: u64,
    /// In the whole run, and by how many calls.
    pub total: Held,
    /// The part of it that was unmapped.
    pub unmapped: u64,
    /// The most that one call mapped.
    pub largest: u64,
    /// When the first that is mapped at the moment was.
    pub oldest: Option<u64>,
    /// The stack, where that is what they have in common.
    pub stack: Option<u32>,
}

/// A mapping, or what is left of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Its first byte.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// The function that mapped it, and what that was asked for.
    pub flags: Flags,
    /// The stack that did, by its number.
    pub stack: u32,
    /// The thread that did, by its place.
    pub thread: usize,
    /// When.
    pub born: u64,
    /// When it, or the first part of it, was unmapped.
    pub died: Option<u64>,
}

/// By what they have in common the chosen mappings, those first that have most at the
/// moment after this event.
pub fn mappings(
    world: &World,
    choice: &Choice,
    at: u64,
    by: By,
) -> Result<Vec<MappingRow>, Damaged> {
    let mut parts = parts(world, choice)?;
    let mut keys = Keys::new(world, by);
    let mut of = |part: &Mapping| match by {
        By::Thread => keys.named(world.thread(part.thread)),
        By::Kind => keys.named(part.flags.api().name().to_owned()),
        _ => keys.of(part.stack),
    };
    // Parts of a call lie side by side then.
    parts.sort_unstable_by_key(|part| (part.born, part.address));
    let mut rows: Vec<MappingRow> = Vec::new();
    for call in parts.chunk_by(|one, other| one.born == other.born) {
        let key = of(&call[0]) as usize;
        rows.resize_with(rows.len().max(key + 1), MappingRow::default);
        rows[key].take(call, at);
        if by.is_whole_stack() {
            rows[key].stack.get_or_insert(call[0].stack);
        }
    }
    for (row, name) in rows.iter_mut().zip(keys.into_names()) {
        row.name = name;
    }
    rows.sort_by(|one, other| {
        let by_bytes = other.live.bytes.cmp(&one.live.bytes);
        by_bytes
            .then(other.total.bytes.cmp(&one.total.bytes))
            .then(one.name.cmp(&other.name))
    });
    Ok(rows)
}

impl MappingRow {
    /// What one call mapped.
    fn take(&mut self, call: &[Mapping], at: u64) {
        let mut bytes = 0u64;
        for part in call {
            bytes = bytes.saturating_add(part.bytes);
            if part.died.is_some() {
                self.unmapped = self.unmapped.saturating_add(part.bytes);
            }
        }
        for area in areas(call.iter().filter(|part| part.is_live_at(at))) {
            self.live = self.live.plus(Held {
                bytes: area.bytes,
                blocks: 1,
            });
            if !area.flags.is_open() {
                self.reserved = self.reserved.saturating_add(area.bytes);
            }
            self.oldest.get_or_insert(area.born);
        }
        self.total = self.total.plus(Held { bytes, blocks: 1 });
        self.largest = self.largest.max(bytes);
    }
}

impl Mapping {
    /// Behind its last byte.
    pub fn end(&self) -> u64 {
        self.address.saturating_add(self.bytes)
    }

    /// Whether it is mapped after this event.
    pub fn is_live_at(&self, event: u64) -> bool {
        self.born <= event && self.died.is_none_or(|died| event < died)
    }
}

/// Parts of calls, in their order, that lie side by side are one area: they went apart
/// later.
fn areas<'p>(parts: impl Iterator<Item = &'p Mapping>) -> Vec<Mapping> {
    let mut areas: Vec<Mapping> = Vec::new();
    for part in parts {
        match areas.last_mut() {
            Some(last) if last.born == part.born && last.end() == part.address => {
                last.bytes = last.bytes.saturating_add(part.bytes);
                let went = [last.died, part.died].into_iter().flatten();
                last.died = went.min();
            }
            _ => areas.push(*part),
        }
    }
    areas
}

/// The chosen mappings of a moment, the largest first.
pub fn mapped_at(world: &World, choice: &Choice, at: u64) -> Result<Vec<Mapping>, Damaged> {
    let mut parts = parts(world, &choice.clone().and(Test::LiveAt(at)))?;
    parts.sort_unstable_by_key(|part| (part.born, part.address));
    let mut list = areas(parts.iter());
    list.sort_by_key(|part| (std::cmp::Reverse(part.bytes), part.address));
    Ok(list)
}

/// The chosen mappings, whenever they were, in the order in which they came.
pub fn mapped(world: &World, choice: &Choice) -> Result<Vec<Mapping>, Damaged> {
    let mut parts = parts(world, choice)?;
    parts.sort_unstable_by_key(|part| (part.born, part.address));
    Ok(areas(parts.iter()))
}

/// What the allocator mapped for itself, at a moment.
pub fn backing_at(world: &World, at: u64) -> Result<Held, Damaged> {
    let live = Choice::of(Test::LiveAt(at));
    pass::over(
        world,
        &live,
        Columns::of(&[Column::Size, Column::Flags]),
        |held: &mut Held, rows, chosen| {
            for &row in chosen {
                if is_backing(rows, row) {
                    *held = held.plus(Held {
                        bytes: rows.get(Column::Size, row),
                        blocks: 1,
                    });
                }
            }
        },
        Held::plus,
    )
}

/// What the program has mapped itself after each tick in which that changed.
pub fn mapped_over_time(world: &World) -> Result<BTreeMap<u64, u64>, Damaged> {
    let mut changes: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    let tick_of = |event| world.table.steps().tick_of(event);
    for part in parts(world, &Choice::all())? {
        let came = &mut changes.entry(tick_of(part.born)).or_default().0;
        *came = came.saturating_add(part.bytes);
        if let Some(died) = part.died {
            let went = &mut changes.entry(tick_of(died)).or_default().1;
            *went = went.saturating_add(part.bytes);
        }
    }
    let mut live = 0u64;
    let sums = changes.into_iter().map(|(tick, (came, went))| {
        live = live.saturating_add(came).saturating_sub(went);
        (tick, live)
    });
    Ok(sums.collect())
}

fn is_backing(rows: &Rows, row: usize) -> bool {
    Flags(rows.get(Column::Flags, row)).is_backing()
}

/// The chosen ones that the program mapped itself.
fn parts(world: &World, choice: &Choice) -> Result<Vec<Mapping>, Damaged> {
    let columns = Columns::of(&[
        Column::Address,
        Column::Size,
        Column::Flags,
        Column::Stack,
        Column::Thread,
        Column::Born,
        Column::Died,
    ]);
    pass::over(
        world,
        choice,
        columns,
        |parts: &mut Vec<Mapping>, rows, chosen| {
            let own = chosen.iter().filter(|&&row| !is_backing(rows, row));
            parts.extend(own.map(|&row| {
                let get = |column| rows.get(column, row);
                Mapping {
                    address: get(Column::Address),
                    bytes: get(Column::Size),
                    flags: Flags(get(Column::Flags)),
                    stack: world.number(get(Column::Stack)),
                    thread: get(Column::Thread) as usize,
                    born: get(Column::Born),
                    died: Some(get(Column::Died)).filter(|&died| died != NEVER),
                }
            }));
        },
        |mut all, mut one| {
            all.append(&mut one);
            all
        },
    )
}
