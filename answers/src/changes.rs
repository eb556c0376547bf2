//! What came and went of chosen blocks between moments, by stack.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;
use memlog_analysis::{ChosenChanges, Held, StackChange};
use memlog_table::{Column, Columns, Flags, NEVER, Rows};

use crate::choice::Choice;
use crate::pass;
use crate::world::{Damaged, World};

/// What came, what went, and what of that nobody freed.
#[derive(Clone, Copy, Default)]
struct Change {
    came: Held,
    went: Held,
    forgotten: Held,
}

/// So far: what was there before the log's own events, by stack; and by moment and stack
/// what changed up to it and not up to the one before.
#[derive(Default)]
struct Found {
    base: BTreeMap<u32, Held>,
    changes: HashMap<(usize, u32), Change, RandomState>,
}

/// Up to each of these events, which rise.
pub fn changes(world: &World, choice: &Choice, events: &[u64]) -> Result<ChosenChanges, Damaged> {
    let columns = Columns::of(&[
        Column::Size,
        Column::Stack,
        Column::Born,
        Column::Died,
        Column::Flags,
    ]);
    let moment = |event: u64| {
        let place = events.partition_point(|&moment| moment < event);
        (place < events.len()).then_some(place)
    };
    let each = |found: &mut Found, rows: &Rows, chosen: &[usize]| {
        for &row in chosen {
            let get = |column| rows.get(column, row);
            let stack = world.number(get(Column::Stack));
            let block = Held {
                bytes: get(Column::Size),
                blocks: 1,
            };
            match get(Column::Born) {
                0 => add(found.base.entry(stack).or_default(), block),
                born => {
                    if let Some(moment) = moment(born) {
                        let change = found.changes.entry((moment, stack)).or_default();
                        add(&mut change.came, block);
                    }
                }
            }
            let died = Some(get(Column::Died)).filter(|&died| died != NEVER);
            if let Some(moment) = died.and_then(moment) {
                let change = found.changes.entry((moment, stack)).or_default();
                add(&mut change.went, block);
                if Flags(get(Column::Flags)).is_lost_sight_of() {
                    add(&mut change.forgotten, block);
                }
            }
        }
    };
    let found = pass::over(world, choice, columns, each, |mut all, other| {
        for (stack, held) in other.base {
            add(all.base.entry(stack).or_default(), held);
        }
        for (key, change) in other.changes {
            let sum = all.changes.entry(key).or_default();
            add(&mut sum.came, change.came);
            add(&mut sum.went, change.went);
            add(&mut sum.forgotten, change.forgotten);
        }
        all
    })?;
    let mut changes = vec![Vec::new(); events.len()];
    let mut forgotten = vec![Vec::new(); events.len()];
    for ((moment, stack), change) in found.changes {
        let Change { came, went, .. } = change;
        changes[moment].push(StackChange { stack, came, went });
        if change.forgotten.blocks > 0 {
            forgotten[moment].push((stack, change.forgotten));
        }
    }
    for changes in &mut changes {
        changes.sort_unstable_by_key(|change: &StackChange| change.stack);
    }
    Ok(ChosenChanges {
        base: found.base.into_iter().collect(),
        changes,
        forgotten,
    })
}

fn add(to: &mut Held, held: Held) {
    *to = to.plus(held);
}
