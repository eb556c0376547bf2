//! How groups of blocks grew.

use std::collections::HashMap;

use memlog_analysis::Held;

use crate::choice::{Choice, Test};
use crate::group::{Group, grouped};
use crate::keys::By;
use crate::sums::Sums;
use crate::unanswered::Unanswered;
use crate::world::World;

/// What groups held at some moments.
pub struct Growth {
    held: HashMap<String, Vec<Held>>,
    none: Vec<Held>,
}

/// What is live of chosen blocks after each of these events, by group.
pub fn growth(
    world: &World,
    choice: &Choice,
    by: By,
    events: &[u64],
) -> Result<Growth, Unanswered> {
    let none = vec![Held::default(); events.len()];
    let mut held: HashMap<String, Vec<Held>> = HashMap::new();
    for (place, &event) in events.iter().enumerate() {
        let live = choice.clone().and(Test::LiveAt(event));
        for group in grouped(world, &live, by)? {
            let known = held.entry(key(world, &group));
            known.or_insert_with(|| none.clone())[place] = group.own.held();
        }
    }
    Ok(Growth { held, none })
}

impl Growth {
    /// What a group held at each moment.
    pub fn of(&self, world: &World, group: &Group) -> &[Held] {
        self.held.get(&key(world, group)).unwrap_or(&self.none)
    }
}

/// All blocks of each group, whatever is chosen.
pub struct Whole(HashMap<String, Sums>);

/// Of all blocks, for the same groups.
pub fn whole(world: &World, by: By) -> Result<Whole, Unanswered> {
    let groups = grouped(world, &Choice::all(), by)?;
    let sums = groups.iter().map(|group| (key(world, group), group.own));
    Ok(Whole(sums.collect()))
}

impl Whole {
    /// All blocks of a group.
    pub fn of(&self, world: &World, group: &Group) -> Sums {
        let sums = self.0.get(&key(world, group));
        sums.copied().unwrap_or_default()
    }
}

/// A group is called the same each time. The name of a long stack is not all of it.
fn key(world: &World, group: &Group) -> String {
    let stack = group.stacks.first();
    let stack = stack.and_then(|&stack| world.stacks.get(stack as usize));
    match stack {
        Some(stack) => {
            let names = world.named(stack.asker);
            let names: Vec<&str> = names.map(|name| name.function.as_str()).collect();
            names.join("\n")
        }
        None => group.name.clone(),
    }
}
