//! What came and went of chosen blocks between moments, by stack.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;
use memlog_analysis::{ChosenChanges, Held, StackChange};
use memlog_table::{Column, Columns, Flags, NEVER, Rows};

use crate::choice::Choice;
use crate::pass;
use crate::world::{Damaged, World};

/// What came, what went, and what was lost sight of.
type Change = [Held; 3];

const CAME: usize = 0;
const WENT: usize = 1;
const FORGOTTEN: usize = 2;

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
            let mut change = |at: u64, what: usize| {
                if let Some(moment) = moment(at) {
                    let change = found.changes.entry((moment, stack)).or_default();
                    add(&mut change[what], block);
                }
            };
            match get(Column::Born) {
                0 => add(found.base.entry(stack).or_default(), block),
                born => change(born, CAME),
            }
            match get(Column::Died) {
                NEVER => {}
                died if Flags(get(Column::Flags)).is_lost_sight_of() => change(died, FORGOTTEN),
                died => change(died, WENT),
            }
        }
    };
    let found = pass::over(world, choice, columns, each, |mut all, other| {
        for (stack, held) in other.base {
            add(all.base.entry(stack).or_default(), held);
        }
        for (key, change) in other.changes {
            let sum = all.changes.entry(key).or_default();
            for (sum, held) in sum.iter_mut().zip(change) {
                add(sum, held);
            }
        }
        all
    })?;
    let mut changes = vec![Vec::new(); events.len()];
    for ((moment, stack), [came, went, forgotten]) in found.changes {
        changes[moment].push(StackChange {
            stack,
            came,
            went,
            forgotten,
        });
    }
    for changes in &mut changes {
        changes.sort_unstable_by_key(|change: &StackChange| change.stack);
    }
    Ok(ChosenChanges {
        base: found.base.into_iter().collect(),
        changes,
    })
}

fn add(to: &mut Held, held: Held) {
    *to = to.plus(held);
}
