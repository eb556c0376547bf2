//! Who allocated and who freed.

use std::collections::HashMap;

use memlog_analysis::Held;
use memlog_table::{Column, NEVER};

use crate::choice::Choice;
use crate::pass;
use crate::sums::Sums;
use crate::world::{Damaged, World};

/// What a thread asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadRow {
    /// Its place in the table's list.
    pub thread: usize,
    /// What it asked for.
    pub asked: Sums,
    /// Blocks that it released, whoever had asked for them.
    pub released: Held,
}

/// What one thread asked for and another released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Between {
    /// Who asked.
    pub from: usize,
    /// Who released.
    pub to: usize,
    /// Of that.
    pub held: Held,
}

#[derive(Default)]
struct State {
    asked: HashMap<u64, Sums>,
    /// By who asked and who released.
    matrix: HashMap<(u64, u64), Held>,
}

/// All threads of the chosen blocks, and what went from one to another, those that
/// asked for most first.
pub fn threads(world: &World, choice: &Choice) -> Result<(Vec<ThreadRow>, Vec<Between>), Damaged> {
    let columns = Sums::COLUMNS.with(Column::Thread).with(Column::Releaser);
    let state = pass::over(
        world,
        choice,
        columns,
        |state: &mut State, rows, chosen| {
            for &row in chosen {
                let get = |column| rows.get(column, row);
                let asked = state.asked.entry(get(Column::Thread)).or_default();
                asked.add(rows, row);
                if get(Column::Died) != NEVER {
                    let key = (get(Column::Thread), get(Column::Releaser));
                    let held = state.matrix.entry(key).or_default();
                    *held = held.plus(Held {
                        bytes: get(Column::Size),
                        blocks: 1,
                    });
                }
            }
        },
        |mut all, other| {
            for (thread, sums) in other.asked {
                let known = all.asked.entry(thread).or_default();
                *known = known.plus(sums);
            }
            for (key, held) in other.matrix {
                let known = all.matrix.entry(key).or_default();
                *known = known.plus(held);
            }
            all
        },
    )?;
    let mut matrix: Vec<Between> = state
        .matrix
        .iter()
        .map(|(&(from, to), &held)| Between {
            from: from as usize,
            to: to as usize,
            held,
        })
        .collect();
    matrix.sort_unstable_by_key(|one| (std::cmp::Reverse(one.held.bytes), one.from, one.to));
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
                released: released.fold(Held::default(), |sum, one| sum.plus(one.held)),
            }
        })
        .collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.asked.bytes), row.thread));
    Ok((rows, matrix))
}
