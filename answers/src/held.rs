//! What stacks hold of chosen blocks, by the stack's number.

use std::collections::HashMap;

use memlog_analysis::Held;
use memlog_table::{Column, Columns, Rows};

use crate::choice::Choice;
use crate::group::{sums_of_releases, sums_of_stacks};
use crate::pass;
use crate::sums::Sums;
use crate::unanswered::{NO_RELEASE_STACKS, Unanswered, has_release_stacks};
use crate::world::{Damaged, World};

/// Of all chosen blocks.
pub fn held_of(world: &World, choice: &Choice) -> Result<Vec<Held>, Damaged> {
    let sums = sums_of_stacks(world, choice)?;
    Ok(sums.iter().map(Sums::held).collect())
}

/// Between which events the chosen blocks of each stack came.
pub fn born_of(world: &World, choice: &Choice) -> Result<Vec<Option<(u64, u64)>>, Damaged> {
    let sums = sums_of_stacks(world, choice)?;
    let born = sums
        .iter()
        .map(|sums| (sums.blocks > 0).then_some(sums.born));
    Ok(born.collect())
}

/// What stacks released of the chosen blocks, and what was released by stacks that the
/// log does not have.
pub fn released_by(world: &World, choice: &Choice) -> Result<(Vec<Held>, Held), Unanswered> {
    if !has_release_stacks(world)? {
        return Err(NO_RELEASE_STACKS);
    }
    let sums = sums_of_releases(world, choice)?;
    let mut held: Vec<Held> = sums.iter().map(Sums::held).collect();
    let unknown = held.get(world.stack_count()).copied();
    held.truncate(world.stack_count());
    Ok((held, unknown.unwrap_or_default()))
}

/// Of those that are live after each of these events.
pub fn held_at(world: &World, choice: &Choice, events: &[u64]) -> Result<Vec<Vec<Held>>, Damaged> {
    let columns = Columns::of(&[Column::Size, Column::Stack, Column::Born, Column::Died]);
    let none = || vec![Held::default(); world.stack_count()];
    let each = |held: &mut Vec<Vec<Held>>, rows: &Rows, chosen: &[usize]| {
        held.resize_with(events.len(), none);
        for &row in chosen {
            let get = |column| rows.get(column, row);
            let stack = world.number(get(Column::Stack)) as usize;
            let life = get(Column::Born)..get(Column::Died);
            let block = Held {
                bytes: get(Column::Size),
                blocks: 1,
            };
            for (held, event) in held.iter_mut().zip(events) {
                if life.contains(event) {
                    held[stack] = held[stack].plus(block);
                }
            }
        }
    };
    let mut held = pass::over(world, choice, columns, each, |mut all, other| {
        if all.is_empty() {
            return other;
        }
        for (all, other) in all.iter_mut().flatten().zip(other.iter().flatten()) {
            *all = all.plus(*other);
        }
        all
    })?;
    held.resize_with(events.len(), none);
    Ok(held)
}

/// What a stack has of blocks of one scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scoped {
    /// The stack's number.
    pub stack: u32,
    /// The scope's place; 0: none.
    pub scope: usize,
    /// What came in the log.
    pub allocated: Held,
    /// What is live at the moment.
    pub live: Held,
}

/// Chosen blocks by stack and scope: those that came up to the event `end`, and those that
/// are live after the event `at`.
pub fn held_by_scope(
    world: &World,
    choice: &Choice,
    (at, end): (u64, u64),
) -> Result<Vec<Scoped>, Damaged> {
    use Column::{Born, Died, Scope, Size, Stack};
    type Sums = HashMap<(u32, u64), [Held; 2]>;
    let columns = Columns::of(&[Size, Stack, Scope, Born, Died]);
    let add = |sums: &mut Sums, key, more: [Held; 2]| {
        let known = sums.entry(key).or_default();
        *known = [known[0].plus(more[0]), known[1].plus(more[1])];
    };
    let each = |sums: &mut Sums, rows: &Rows, chosen: &[usize]| {
        for &row in chosen {
            let get = |column| rows.get(column, row);
            let (bytes, born) = (get(Size), get(Born));
            let block = |is_there| match is_there {
                true => Held { bytes, blocks: 1 },
                false => Held::default(),
            };
            let is_live = (born..get(Died)).contains(&at);
            let held = [block((1..=end).contains(&born)), block(is_live)];
            add(sums, (world.number(get(Stack)), get(Scope)), held);
        }
    };
    let sums = pass::over(world, choice, columns, each, |mut all, other| {
        other
            .into_iter()
            .for_each(|(key, held)| add(&mut all, key, held));
        all
    })?;
    let scoped = sums.into_iter();
    let mut scoped: Vec<Scoped> = scoped
        .map(|((stack, scope), [allocated, live])| Scoped {
            stack,
            scope: scope as usize,
            allocated,
            live,
        })
        .collect();
    scoped.sort_unstable_by_key(|one| (one.stack, one.scope));
    Ok(scoped)
}
