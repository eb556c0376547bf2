//! Whom each stack's memory was for, by the rule of `memlog summary`: the innermost place
//! that is of no standard library, and no function that only passes on for others.
//! Which functions do is a matter of the whole log, whatever was chosen, so that two
//! answers about the same blocks name the same places.

use memlog_analysis::{Held, List, Name, PassedOver, Stacks, Wrappers, asking_places, step};
use memlog_table::{Column, Columns, Flags};

use crate::choice::{Choice, Test};
use crate::pass;
use crate::world::{Damaged, Of, World};

/// Names the owner of each stack.
pub fn name_owners(world: &mut World) -> Result<(), Damaged> {
    let peak = Choice::of(Test::LiveAt(world.moments.rss_peak));
    let calls = Choice::of(Test::Between(Column::Born, 1, u64::MAX));
    let mut lists = vec![list(world, &peak, Column::Stack, |held| held.bytes)?];
    if world.of == Of::Blocks {
        lists.push(list(world, &calls, Column::Stack, |held| held.blocks)?);
    }
    name_by(world, &Wrappers::Of(&lists));
    Ok(())
}

/// The same past the functions that another log's stacks are named past: so the ranks of a
/// job have the same places.
pub fn name_owners_past(world: &mut World, functions: &PassedOver) {
    name_by(world, &Wrappers::Known(functions));
}

fn name_by(world: &mut World, wrappers: &Wrappers) {
    let (owners, passed_over) = places(world, wrappers);
    for (stack, owner) in world.stacks.iter_mut().zip(owners) {
        stack.owner = owner;
    }
    world.passed_over = passed_over;
}

/// The same of the stacks that released blocks: what passes on releases for others is
/// passed over.
pub(crate) fn releasers(world: &World) -> Result<Vec<Option<u32>>, Damaged> {
    let all = Choice::all();
    let list = list(world, &all, Column::ReleaseStack, |held| held.blocks)?;
    Ok(places(world, &Wrappers::Of(&[list])).0)
}

fn places(world: &World, wrappers: &Wrappers) -> (Vec<Option<u32>>, PassedOver) {
    let all = 0..world.stacks.len() as u32;
    asking_places(wrappers, all, world.program.as_deref(), &mut Lines(world))
}

/// By stack what the chosen rows have, in the column that names who.
fn list(
    world: &World,
    choice: &Choice,
    column: Column,
    weight: fn(&Held) -> u64,
) -> Result<List, Damaged> {
    // Zero stands for nobody where it is about releases.
    let nobody = u64::from(column == Column::ReleaseStack);
    let held = pass::over(
        world,
        choice,
        Columns::of(&[column, Column::Size, Column::Flags]),
        |held: &mut Vec<Held>, rows, chosen| {
            for &row in chosen {
                let Some(place) = rows.get(column, row).checked_sub(nobody) else {
                    continue;
                };
                if world.of == Of::Mappings && !Flags(rows.get(Column::Flags, row)).is_open() {
                    continue;
                }
                let stack = world.number(place) as usize;
                if stack >= held.len() {
                    held.resize(stack + 1, Held::default());
                }
                held[stack] = held[stack].plus(Held {
                    bytes: rows.get(Column::Size, row),
                    blocks: 1,
                });
            }
        },
        |mut all, other| {
            all.resize(all.len().max(other.len()), Held::default());
            for (one, other) in all.iter_mut().zip(other) {
                *one = one.plus(other);
            }
            all
        },
    )?;
    let stacks = (0..).zip(held).filter(|(_, held)| held.blocks > 0);
    Ok(List {
        stacks: stacks.collect(),
        weight,
    })
}

/// The stacks of a world from who called the allocator.
struct Lines<'w, 't, 'b>(&'w World<'t, 'b>);

impl Stacks for Lines<'_, '_, '_> {
    type Cursor = u32;

    fn start(&mut self, stack: u32) -> u32 {
        let stack = self.0.stacks.get(stack as usize);
        stack.map_or(memlog_analysis::END, |stack| stack.asker)
    }

    fn step(&mut self, line: u32) -> Option<(u32, u32)> {
        let step = step(&self.0.lines, line);
        step.filter(|(label, _)| (*label as usize) < self.0.names.len())
    }

    fn name(&self, label: u32) -> &Name {
        &self.0.names[label as usize]
    }
}
