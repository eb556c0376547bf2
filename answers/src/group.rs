//! Sums by function, line, size, thread and so on.

use std::collections::HashMap;

use memlog_analysis::nameless_in;
use memlog_table::{Column, Columns, Flags};

use crate::choice::Choice;
use crate::pass;
use crate::sums::{One, Sums};
use crate::types::type_of;
use crate::world::{Damaged, World};

/// What blocks are put together by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The function that asked.
    Function,
    /// Its source file.
    File,
    /// Its file and line.
    Line,
    /// Its program or library.
    Module,
    /// The whole stack.
    Stack,
    /// Bytes asked for.
    Size,
    /// The thread that asked.
    Thread,
    /// The type that the names of the stack tell of.
    Type,
    /// The function of the allocator that was called.
    Kind,
}

impl By {
    /// Whether names are looked up for it.
    pub fn needs_names(self) -> bool {
        !matches!(self, By::Size | By::Thread | By::Kind)
    }
}

/// Blocks that have something in common.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// What that is.
    pub name: String,
    /// Of the blocks that it asked for itself.
    pub own: Sums,
    /// And of those that were asked for by what it called; the same as its own where
    /// there is nothing that calls.
    pub below: Sums,
    /// The stack, where that is what they have in common.
    pub stack: Option<u32>,
}

/// Chosen blocks in groups, in no order.
pub fn grouped(world: &World, choice: &Choice, by: By) -> Result<Vec<Group>, Damaged> {
    match by {
        By::Size => by_value(
            world,
            choice,
            |rows, row| rows.get(Column::Size, row),
            &[],
            |size| size.to_string(),
        ),
        By::Kind => by_value(
            world,
            choice,
            |rows, row| Flags(rows.get(Column::Flags, row)).api() as u64,
            &[],
            |number| Flags(number).api().name().to_owned(),
        ),
        By::Thread => by_value(
            world,
            choice,
            |rows, row| rows.get(Column::Thread, row),
            &[Column::Thread],
            |place| world.thread(place as usize),
        ),
        _ => by_stack(world, choice, by),
    }
}

const SUMMED: [Column; 5] = [
    Column::Size,
    Column::Waste,
    Column::Born,
    Column::Died,
    Column::Flags,
];

#[inline]
fn one(rows: &memlog_table::Rows, row: usize) -> One {
    One {
        size: rows.get(Column::Size, row),
        waste: rows.get(Column::Waste, row),
        born: rows.get(Column::Born, row),
        died: rows.get(Column::Died, row),
        is_temporary: Flags(rows.get(Column::Flags, row)).is_temporary(),
    }
}

fn by_value(
    world: &World,
    choice: &Choice,
    value: impl Fn(&memlog_table::Rows, usize) -> u64 + Sync,
    more: &[Column],
    name: impl Fn(u64) -> String,
) -> Result<Vec<Group>, Damaged> {
    let columns = Columns::of(&SUMMED).and(Columns::of(more));
    let sums = pass::over(
        world,
        choice,
        columns,
        |sums: &mut HashMap<u64, Sums>, rows, chosen| {
            for &row in chosen {
                sums.entry(value(rows, row))
                    .or_default()
                    .add(&one(rows, row));
            }
        },
        |mut all, other| {
            for (value, sums) in other {
                let known = all.entry(value).or_default();
                *known = known.plus(sums);
            }
            all
        },
    )?;
    let groups = sums.into_iter().map(|(value, own)| Group {
        name: name(value),
        own,
        below: own,
        stack: None,
    });
    Ok(groups.collect())
}

/// Sums of each stack, by its number.
pub(crate) fn sums_of_stacks(world: &World, choice: &Choice) -> Result<Vec<Sums>, Damaged> {
    let columns = Columns::of(&SUMMED).with(Column::Stack);
    let mut sums = pass::over(
        world,
        choice,
        columns,
        |sums: &mut Vec<Sums>, rows, chosen| {
            for &row in chosen {
                let stack = world.stack(rows.get(Column::Stack, row)) as usize;
                if stack >= sums.len() {
                    sums.resize(stack + 1, Sums::default());
                }
                sums[stack].add(&one(rows, row));
            }
        },
        |mut all, mut other| {
            if all.len() < other.len() {
                std::mem::swap(&mut all, &mut other);
            }
            for (known, sums) in all.iter_mut().zip(other) {
                *known = known.plus(sums);
            }
            all
        },
    )?;
    sums.resize(world.stack_count(), Sums::default());
    Ok(sums)
}

fn by_stack(world: &World, choice: &Choice, by: By) -> Result<Vec<Group>, Damaged> {
    let sums = sums_of_stacks(world, choice)?;
    let mut groups: Vec<Group> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut place =
        |groups: &mut Vec<Group>, name: String, stack: Option<u32>| match places.get(&name) {
            Some(&place) => place,
            None => {
                places.insert(name.clone(), groups.len());
                groups.push(Group {
                    name,
                    stack,
                    ..Group::default()
                });
                groups.len() - 1
            }
        };
    // By label: a stack has many, and few of them are new.
    let mut of_label: HashMap<u32, usize> = HashMap::new();
    for (stack, sums) in (0..).zip(&sums).filter(|(_, sums)| sums.blocks > 0) {
        if matches!(by, By::Stack | By::Type) {
            let at = (by == By::Stack).then_some(stack);
            let group = place(&mut groups, key_of(world, by, stack), at);
            groups[group].own = groups[group].own.plus(*sums);
            groups[group].below = groups[group].own;
            continue;
        }
        let own = place(&mut groups, key_of(world, by, stack), None);
        groups[own].own = groups[own].own.plus(*sums);
        // A function that calls itself has what it asked for once.
        let mut seen: Vec<usize> = vec![own];
        for &label in world
            .paths
            .get(stack as usize)
            .map_or(&[][..], |path| path.outwards())
        {
            let group = match of_label.get(&label) {
                Some(&group) => group,
                None => {
                    let group = place(&mut groups, name_of(world, by, label), None);
                    of_label.insert(label, group);
                    group
                }
            };
            if !seen.contains(&group) {
                seen.push(group);
            }
        }
        for group in seen {
            groups[group].below = groups[group].below.plus(*sums);
        }
    }
    Ok(groups)
}

const NO_STACK: &str = "(no stack)";

/// What a stack is put under.
pub(crate) fn key_of(world: &World, by: By, stack: u32) -> String {
    let Some(path) = world.paths.get(stack as usize) else {
        return NO_STACK.into();
    };
    match by {
        By::Stack => {
            let names = path
                .outwards()
                .iter()
                .map(|&label| name_of(world, By::Function, label));
            let names: Vec<String> = names.collect();
            match names.is_empty() {
                true => NO_STACK.into(),
                false => names.join(" < "),
            }
        }
        By::Type => {
            let names = path
                .labels
                .iter()
                .filter_map(|&label| world.names.get(label as usize));
            type_of(names.map(|name| name.function.as_str())).unwrap_or_else(|| "(unknown)".into())
        }
        _ => match path.asked() {
            Some(label) => name_of(world, by, label),
            None => NO_STACK.into(),
        },
    }
}

/// What a function is put under.
fn name_of(world: &World, by: By, label: u32) -> String {
    const UNKNOWN: &str = "(unknown)";
    let Some(name) = world.names.get(label as usize) else {
        return UNKNOWN.into();
    };
    let location = name.location.as_deref();
    match by {
        By::File => location.map_or(UNKNOWN, file_of).into(),
        By::Line => location.unwrap_or(&name.function).into(),
        By::Module => module_of(name).unwrap_or(UNKNOWN).into(),
        _ => name.function.clone(),
    }
}

/// A location without its line.
pub(crate) fn file_of(location: &str) -> &str {
    match location.rsplit_once(':') {
        Some((file, line)) if line.bytes().all(|byte| byte.is_ascii_digit()) => file,
        _ => location,
    }
}

/// The line of a location.
pub(crate) fn line_of(location: &str) -> Option<u64> {
    location.rsplit_once(':')?.1.parse().ok()
}

/// The program or library of a function; one without a name is called after it.
pub(crate) fn module_of(name: &memlog_analysis::Name) -> Option<&str> {
    name.module
        .as_deref()
        .or_else(|| nameless_in(&name.function))
}
