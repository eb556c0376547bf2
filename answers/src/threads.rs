//! Who allocated and who freed.

use std::collections::HashMap;

use memlog_table::{Column, Columns, Flags, NEVER};

use crate::choice::Choice;
use crate::pass;
use crate::sums::{One, Sums};
use crate::world::{Damaged, World};

/// What a thread asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadRow {
    /// Its place in the table's list.
    pub thread: usize,
    /// What it asked for.
    pub asked: Sums,
    /// Blocks that it released, whoever had asked for them.
    pub released: (u64, u64),
}

/// What one thread asked for and another released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Between {
    /// Who asked.
    pub from: usize,
    /// Who released.
    pub to: usize,
    /// Bytes.
    pub bytes: u64,
    /// How many.
    pub blocks: u64,
}

#[derive(Default)]
struct State {
    asked: HashMap<u64, Sums>,
    /// By who asked and who released: bytes and blocks.
    matrix: HashMap<(u64, u64), (u64, u64)>,
}

/// All threads of the chosen blocks, and what went from one to another, those that
/// asked for most first.
pub fn threads(world: &World, choice: &Choice) -> Result<(Vec<ThreadRow>, Vec<Between>), Damaged> {
    let columns = Columns::of(&[
        Column::Size,
        Column::Waste,
        Column::Born,
        Column::Died,
        Column::Thread,
        Column::Releaser,
        Column::Flags,
    ]);
    let state = pass::over(
        world,
        choice,
        columns,
        |state: &mut State, rows, chosen| {
            for &row in chosen {
                let get = |column| rows.get(column, row);
                let one = One {
                    size: get(Column::Size),
                    waste: get(Column::Waste),
                    born: get(Column::Born),
                    died: get(Column::Died),
                    is_temporary: Flags(get(Column::Flags)).is_temporary(),
                };
                state
                    .asked
                    .entry(get(Column::Thread))
                    .or_default()
                    .add(&one);
                if one.died != NEVER {
                    let key = (get(Column::Thread), get(Column::Releaser));
                    let sum = state.matrix.entry(key).or_default();
                    *sum = (sum.0.saturating_add(one.size), sum.1 + 1);
                }
            }
        },
        |mut all, other| {
            for (thread, sums) in other.asked {
                let known = all.asked.entry(thread).or_default();
                *known = known.plus(sums);
            }
            for (key, (bytes, blocks)) in other.matrix {
                let known = all.matrix.entry(key).or_default();
                *known = (known.0.saturating_add(bytes), known.1 + blocks);
            }
            all
        },
    )?;
    let mut matrix: Vec<Between> = state
        .matrix
        .iter()
        .map(|(&(from, to), &(bytes, blocks))| Between {
            from: from as usize,
            to: to as usize,
            bytes,
            blocks,
        })
        .collect();
    matrix.sort_unstable_by_key(|one| (std::cmp::Reverse(one.bytes), one.from, one.to));
    let mut seen: Vec<u64> = state.asked.keys().copied().collect();
    seen.extend(state.matrix.keys().map(|&(_, to)| to));
    seen.sort_unstable();
    seen.dedup();
    let mut rows: Vec<ThreadRow> = seen
        .into_iter()
        .map(|thread| {
            let released = matrix.iter().filter(|one| one.to as u64 == thread);
            ThreadRow {
                thread: thread as usize,
                asked: state.asked.get(&thread).copied().unwrap_or_default(),
                released: released.fold((0, 0), |sum: (u64, u64), one| {
                    (sum.0.saturating_add(one.bytes), sum.1 + one.blocks)
                }),
            }
        })
        .collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.asked.bytes), row.thread));
    Ok((rows, matrix))
}
