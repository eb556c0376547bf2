//! What DHAT counts of each place that allocates: all of its blocks, how long they lived,
//! the most it held, and what it held at the heap peak and at the end.

use memlog_analysis::Held;
use memlog_table::{Column, Columns, NEVER, Rows};

use crate::choice::Choice;
use crate::pass;
use crate::world::{Damaged, World};

/// Of the blocks of one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AllocationPoint {
    /// All of them.
    pub all: Held,
    /// How long they lived in all, in ticks; those that stayed, to the end.
    pub lifetime_ticks: u64,
    /// Live when it held the most bytes, the first time that it did.
    pub most: Held,
    /// Live at the heap peak.
    pub at_peak: Held,
    /// Never released.
    pub at_end: Held,
}

impl AllocationPoint {
    fn plus(self, other: Self) -> Self {
        Self {
            all: self.all.plus(other.all),
            lifetime_ticks: self.lifetime_ticks.saturating_add(other.lifetime_ticks),
            most: self.most.plus(other.most),
            at_peak: self.at_peak.plus(other.at_peak),
            at_end: self.at_end.plus(other.at_end),
        }
    }
}

/// Of each place the figures of its chosen blocks; `place` has the place of each stack by
/// the stack's number.
///
/// The table knows the most that each of its stacks ever held. A place with one such stack
/// has that; of others the blocks are gone through in the order of the events, which takes
/// 24 bytes for each coming and each going. Nothing where they are more than so many.
pub fn allocation_points(
    world: &World,
    choice: &Choice,
    place: &[u32],
    (is_of_all, most): (bool, usize),
) -> Result<Option<Vec<AllocationPoint>>, Damaged> {
    let peaks = is_of_all.then(|| known_peaks(world, place));
    let peaks = peaks.unwrap_or_default();
    let count = place.iter().max().map_or(0, |&last| last as usize + 1);
    let at = |rows: &Rows, row: usize| {
        let stack = world.number(rows.get(Column::Stack, row));
        place.get(stack as usize).copied().unwrap_or(0) as usize
    };
    let columns = Columns::of(&[Column::Size, Column::Stack, Column::Born, Column::Died]);
    let mut points = pass::over(
        world,
        choice,
        columns,
        |points: &mut Vec<AllocationPoint>, rows, chosen| {
            points.resize(count, AllocationPoint::default());
            for &row in chosen {
                let at = at(rows, row);
                let peak = peaks.get(at).copied().flatten();
                let one = of_one(world, rows, row, peak);
                points[at] = points[at].plus(one);
            }
        },
        |mut all, other| {
            all.resize(count, AllocationPoint::default());
            for (one, other) in all.iter_mut().zip(other) {
                *one = one.plus(other);
            }
            all
        },
    )?;
    points.resize(count, AllocationPoint::default());
    let is_open = |at: usize| peaks.get(at).copied().flatten().is_none();
    if !(0..count).any(is_open) {
        return Ok(Some(points));
    }
    let changes = pass::over(
        world,
        choice,
        columns,
        |changes: &mut Vec<Change>, rows, chosen| {
            let open = chosen.iter().map(|&row| (row, at(rows, row)));
            for (row, at) in open.filter(|&(_, at)| is_open(at)) {
                // What is too much already grows no further.
                if changes.len() > most {
                    break;
                }
                let bytes = rows.get(Column::Size, row);
                let (born, died) = (rows.get(Column::Born, row), rows.get(Column::Died, row));
                let at = at as u32;
                changes.push(Change {
                    event: born,
                    at,
                    goes: false,
                    bytes,
                });
                if died != NEVER {
                    changes.push(Change {
                        event: died,
                        at,
                        goes: true,
                        bytes,
                    });
                }
            }
        },
        |mut all, mut other| {
            all.append(&mut other);
            all
        },
    )?;
    if changes.len() > most {
        return Ok(None);
    }
    sweep(changes, &mut points);
    Ok(Some(points))
}

/// A block that comes or goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Change {
    event: u64,
    at: u32,
    goes: bool,
    bytes: u64,
}

/// The most that each place held, by all that came and went there.
fn sweep(mut changes: Vec<Change>, points: &mut [AllocationPoint]) {
    changes.sort_unstable();
    let mut live = vec![Held::default(); points.len()];
    for (index, change) in changes.iter().enumerate() {
        let at = change.at as usize;
        let one = Held {
            bytes: change.bytes,
            blocks: 1,
        };
        live[at] = match change.goes {
            true => live[at].minus(one),
            false => live[at].plus(one),
        };
        // What was inherited came at once.
        let next = changes.get(index + 1);
        let is_within = next.is_some_and(|next| (next.event, next.at) == (change.event, change.at));
        if !is_within && live[at].bytes > points[at].most.bytes {
            points[at].most = live[at];
        }
    }
}

/// By place at which event it held most, where the table knows that.
fn known_peaks(world: &World, place: &[u32]) -> Vec<Option<u64>> {
    let count = place.iter().max().map_or(0, |&last| last as usize + 1);
    let mut peaks = vec![None; count];
    let mut seen = vec![0u32; count];
    for (held, &stack) in world.table.held().iter().zip(&world.numbers) {
        let at = place.get(stack as usize).copied().unwrap_or(0) as usize;
        seen[at] += 1;
        peaks[at] = Some(held.event);
    }
    for (peak, seen) in peaks.iter_mut().zip(seen) {
        *peak = peak.filter(|_| seen == 1);
    }
    peaks
}

fn of_one(world: &World, rows: &Rows, row: usize, peak: Option<u64>) -> AllocationPoint {
    let get = |column| rows.get(column, row);
    let (born, died) = (get(Column::Born), get(Column::Died));
    let one = Held {
        bytes: get(Column::Size),
        blocks: 1,
    };
    let if_live = |event: u64| match (born..died).contains(&event) {
        true => one,
        false => Held::default(),
    };
    AllocationPoint {
        all: one,
        lifetime_ticks: world.lifetime(born, died),
        most: peak.map_or_else(Held::default, if_live),
        at_peak: if_live(world.moments.heap_peak),
        at_end: match died {
            NEVER => one,
            _ => Held::default(),
        },
    }
}
