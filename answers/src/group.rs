//! Sums by function, line, size, thread and so on.

use memlog_analysis::{Held, held_below};
use memlog_table::{Column, Flags, NEVER, Rows};

use crate::by_number::ByNumber;
use crate::choice::{Choice, Test};
use crate::keys::{By, Keys};
use crate::pass;
use crate::sums::Sums;
use crate::unanswered::{NO_RELEASE_STACKS, Unanswered, has_release_stacks};
use crate::world::{Damaged, World};

/// Blocks that have something in common.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// What that is.
    pub name: String,
    /// Of the blocks that it asked for itself.
    pub own: Sums,
    /// And of those that were asked for by what it called; the same as its own where
    /// there is nothing that calls.
    pub below: Held,
    /// The stacks, where that is what they have in common: some differ only within
    /// functions.
    pub stacks: Vec<u32>,
}

const NOT_ASKED: &str = "(not asked for)";
const NOT_FREED: &str = "(not freed)";

/// Chosen blocks in groups, in no order.
pub fn grouped(world: &World, choice: &Choice, by: By) -> Result<Vec<Group>, Unanswered> {
    if by.of_release().is_some() && !has_release_stacks(world)? {
        return Err(NO_RELEASE_STACKS);
    }
    let size = |rows: &Rows, row: usize| rows.get(Column::Size, row);
    let api = |rows: &Rows, row: usize| Flags(rows.get(Column::Flags, row)).api() as u64;
    let thread = |rows: &Rows, row: usize| rows.get(Column::Thread, row);
    let scope = |rows: &Rows, row: usize| rows.get(Column::Scope, row);
    let alignment = |rows: &Rows, row: usize| Flags(rows.get(Column::Flags, row)).alignment();
    let releaser = |rows: &Rows, row: usize| match rows.get(Column::Died, row) {
        NEVER => NEVER,
        _ => rows.get(Column::Releaser, row),
    };
    let found = match by {
        By::Size => by_value(world, choice, Column::Size, size, |size| size.to_string()),
        By::Kind => by_value(world, choice, Column::Flags, api, |api| {
            Flags(api).api().name().to_owned()
        }),
        By::Thread => by_value(world, choice, Column::Thread, thread, |place| {
            world.thread(place as usize)
        }),
        By::Scope => by_value(world, choice, Column::Scope, scope, |place| {
            world.scope(place as usize)
        }),
        By::Alignment => by_value(
            world,
            choice,
            Column::Flags,
            alignment,
            |bytes| match bytes {
                0 => NOT_ASKED.to_owned(),
                bytes => bytes.to_string(),
            },
        ),
        By::FreedBy => by_value(
            world,
            choice,
            Column::Releaser,
            releaser,
            |place| match place {
                NEVER => NOT_FREED.to_owned(),
                place => world.thread(place as usize),
            },
        ),
        _ => by_stack(world, choice, by),
    };
    Ok(found?)
}

/// By a value that is made of this column, and of those that are summed.
fn by_value(
    world: &World,
    choice: &Choice,
    column: Column,
    value: impl Fn(&Rows, usize) -> u64 + Sync,
    name: impl Fn(u64) -> String,
) -> Result<Vec<Group>, Damaged> {
    let sums = pass::over(
        world,
        choice,
        Sums::COLUMNS.with(column),
        |sums: &mut ByNumber<Sums>, rows, chosen| {
            for &row in chosen {
                sums.of(value(rows, row)).add(rows, row);
            }
        },
        |all, other| all.plus(other, |one, other| one.plus(other)),
    )?;
    let groups = sums.into_all().map(|(value, own)| Group {
        name: name(value),
        own,
        below: own.held(),
        stacks: Vec::new(),
    });
    Ok(groups.collect())
}

/// Sums of each stack, by its number.
pub fn sums_of_stacks(world: &World, choice: &Choice) -> Result<Vec<Sums>, Damaged> {
    let place = |rows: &Rows, row: usize| rows.get(Column::Stack, row);
    let sums = || {
        sums_by(
            world,
            choice,
            Column::Stack,
            world.stack_count(),
            |rows, row| world.number(place(rows, row)) as usize,
        )
    };
    if let Test::Stack(set) = choice.test() {
        let is_in = |number| set.get(number).copied().unwrap_or(false);
        let mut sums = sums_of_stacks(world, &Choice::all())?;
        let others = sums.iter_mut().enumerate();
        let others = others.filter(|(number, _)| !is_in(*number));
        others.for_each(|(_, sums)| *sums = Sums::default());
        return Ok(sums);
    }
    let mut chunks = world.table.chunks().iter();
    if !chunks.all(|chunk| choice.takes_all(chunk)) {
        return sums();
    }
    if let Some(known) = world.sums.get() {
        return Ok(known.clone());
    }
    // Who comes second at the same time counts as well, to the same.
    let sums = sums()?;
    Ok(world.sums.get_or_init(|| sums).clone())
}

/// The same of the stacks that released. Behind them are those that were released by a
/// stack that nobody knows, and those that were not released.
pub(crate) fn sums_of_releases(world: &World, choice: &Choice) -> Result<Vec<Sums>, Damaged> {
    let stacks = world.stack_count();
    sums_by(
        world,
        choice,
        Column::ReleaseStack,
        stacks + 2,
        |rows, row| {
            let place = rows.get(Column::ReleaseStack, row).checked_sub(1);
            match (place, rows.get(Column::Died, row)) {
                (_, NEVER) => stacks + 1,
                (Some(place), _) => world.number(place) as usize,
                (None, _) => stacks,
            }
        },
    )
}

/// Sums by number, of which there are so many.
fn sums_by(
    world: &World,
    choice: &Choice,
    column: Column,
    count: usize,
    number: impl Fn(&Rows, usize) -> usize + Sync,
) -> Result<Vec<Sums>, Damaged> {
    let mut sums = pass::over(
        world,
        choice,
        Sums::COLUMNS.with(column),
        |sums: &mut Vec<Sums>, rows, chosen| {
            for &row in chosen {
                let number = number(rows, row);
                if number >= sums.len() {
                    sums.resize(number + 1, Sums::default());
                }
                sums[number].add(rows, row);
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
    sums.resize(count, Sums::default());
    Ok(sums)
}

/// By line what was asked for there, without what it called.
pub(crate) fn held_at_askers(world: &World, sums: &[Sums]) -> Vec<Held> {
    let mut held = vec![Held::default(); world.lines.len()];
    for (stack, sums) in world.stacks.iter().zip(sums) {
        if let Some(held) = held.get_mut(stack.asker as usize) {
            *held = held.plus(sums.held());
        }
    }
    held
}

fn by_stack(world: &World, choice: &Choice, by: By) -> Result<Vec<Group>, Damaged> {
    let (sums, mut keys) = match by.of_release() {
        Some(by) => (
            sums_of_releases(world, choice)?,
            Keys::of_releases(world, by)?,
        ),
        None => (sums_of_stacks(world, choice)?, Keys::new(world, by)),
    };
    let stacks = world.stack_count();
    let mut groups: Vec<Group> = Vec::new();
    for (stack, sums) in (0..).zip(&sums).filter(|(_, sums)| sums.blocks > 0) {
        let is_none = stack as usize >= stacks;
        let key = match stack as usize > stacks {
            true => keys.named(NOT_FREED.to_owned()),
            false => keys.of(stack),
        };
        groups.resize_with(keys.len(), Group::default);
        let group = &mut groups[key as usize];
        group.own = group.own.plus(*sums);
        if by.is_whole_stack() && !is_none {
            group.stacks.push(stack);
        }
    }
    if by.has_callers() {
        let held = held_at_askers(world, &sums);
        let labels: Vec<u32> = (0..world.names.len() as u32)
            .map(|label| keys.of_label(label))
            .collect();
        let key = |label: u32| labels.get(label as usize).copied();
        let below = held_below(&world.lines, held, keys.len(), key);
        groups.resize_with(keys.len(), Group::default);
        for (group, below) in groups.iter_mut().zip(below) {
            group.below = below;
        }
    } else {
        for group in &mut groups {
            group.below = group.own.held();
        }
    }
    for (group, name) in groups.iter_mut().zip(keys.into_names()) {
        group.name = name;
        // Of no stack, so of nobody's callees.
        if group.below.blocks < group.own.blocks {
            group.below = group.own.held();
        }
    }
    groups.retain(|group| group.below.blocks > 0);
    Ok(groups)
}
