//! Who allocated and who freed.

use std::collections::HashMap;

use memlog_analysis::Held;
use memlog_table::{Column, NEVER};

use crate::by_number::{ByNumber, pair, parted};
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
    asked: ByNumber<Sums>,
    /// By who asked and who released, as a [`pair`].
    matrix: ByNumber<Held>,
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
                state.asked.of(get(Column::Thread)).add(rows, row);
                if get(Column::Died) != NEVER {
                    let key = pair(get(Column::Thread), get(Column::Releaser));
                    let held = state.matrix.of(key);
                    *held = held.plus(Held {
                        bytes: get(Column::Size),
                        blocks: 1,
                    });
                }
            }
        },
        |all, other| State {
            asked: all.asked.plus(other.asked, |one, other| one.plus(other)),
            matrix: all.matrix.plus(other.matrix, |one, other| one.plus(other)),
        },
    )?;
    let asked: HashMap<u64, Sums> = state.asked.into_all().collect();
    let between = state.matrix.into_all().map(|(key, held)| {
        let (from, to) = parted(key);
        Between {
            from: from as usize,
            to: to as usize,
            held,
        }
    });
    let mut matrix: Vec<Between> = between.collect();
    matrix.sort_unstable_by_key(|one| (std::cmp::Reverse(one.held.bytes), one.from, one.to));
    let mut seen: Vec<u64> = asked.keys().copied().collect();
    seen.extend(matrix.iter().map(|one| one.to as u64));
    seen.sort_unstable();
    seen.dedup();
    let mut rows: Vec<ThreadRow> = seen
        .into_iter()
        .map(|thread| {
            let released = matrix.iter().filter(|one| one.to as u64 == thread);
            ThreadRow {
                thread: thread as usize,
                asked: asked.get(&thread).copied().unwrap_or_default(),
                released: released.fold(Held::default(), |sum, one| sum.plus(one.held)),
            }
        })
        .collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.asked.bytes), row.thread));
    Ok((rows, matrix))
}
