//! What came and went of chosen blocks, one by one.

use memlog_table::{Column, Columns, NEVER};

use crate::choice::Choice;
use crate::pass;
use crate::world::{Damaged, World};

/// A block that came or went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its number; 0: before the log.
    pub number: u64,
    /// Whether it went.
    pub is_release: bool,
    /// Where it lies.
    pub address: u64,
    /// Bytes asked for.
    pub size: u64,
    /// The stack, by its number: who asked for it, or who released it if that was recorded.
    pub stack: Option<u32>,
}

/// All of them in their order; nothing if they are more than so many.
pub fn events(world: &World, choice: &Choice, most: usize) -> Result<Option<Vec<Event>>, Damaged> {
    let columns = Columns::of(&[
        Column::Born,
        Column::Died,
        Column::Address,
        Column::Size,
        Column::Stack,
        Column::ReleaseStack,
    ]);
    let mut events = pass::over(
        world,
        choice,
        columns,
        |events: &mut Vec<Event>, rows, chosen| {
            for &row in chosen {
                // What is too much already grows no further.
                if events.len() > most {
                    break;
                }
                let get = |column| rows.get(column, row);
                let came = Event {
                    number: get(Column::Born),
                    is_release: false,
                    address: get(Column::Address),
                    size: get(Column::Size),
                    stack: Some(world.number(get(Column::Stack))),
                };
                events.push(came);
                let number = get(Column::Died);
                if number != NEVER {
                    let stack = get(Column::ReleaseStack).checked_sub(1);
                    events.push(Event {
                        number,
                        is_release: true,
                        stack: stack.map(|place| world.number(place)),
                        ..came
                    });
                }
            }
        },
        |mut all, mut other| {
            all.append(&mut other);
            all
        },
    )?;
    if events.len() > most {
        return Ok(None);
    }
    events.sort_unstable_by_key(|event| (event.number, event.address));
    Ok(Some(events))
}
