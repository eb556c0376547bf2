//! Who asked for chosen blocks: places with their lines, those that have most first.

use std::cmp::Reverse;
use std::collections::HashMap;

use memlog_analysis::{Held, Name};

use crate::choice::Choice;
use crate::held::held_of;
use crate::world::{Damaged, World};

/// A place that asked for memory.
#[derive(Clone, Debug)]
pub struct Owned<'w> {
    /// What it is called; nothing where there was no stack.
    pub name: Option<&'w Name>,
    /// What it has.
    pub held: Held,
    /// Of its stacks the one that has most, from the place out.
    pub callers: Vec<&'w Name>,
}

/// The places that chosen blocks were for, as `memlog summary` tells them; `weight` is what
/// they are sorted by.
pub fn owned<'w>(
    world: &'w World,
    choice: &Choice,
    weight: impl Fn(&Held) -> u64,
) -> Result<Vec<Owned<'w>>, Damaged> {
    let mut places: HashMap<Option<&Name>, (Held, Held, usize)> = HashMap::new();
    let held = held_of(world, choice)?;
    let with_blocks = held.iter().enumerate().filter(|(_, held)| held.blocks > 0);
    for (stack, held) in with_blocks {
        let of = places.entry(world.owner(stack as u32));
        let (sum, most, largest) = of.or_insert((Held::default(), Held::default(), stack));
        *sum = sum.plus(*held);
        if weight(held) > weight(most) {
            (*most, *largest) = (*held, stack);
        }
    }
    let mut places: Vec<Owned> = places
        .into_iter()
        .map(|(name, (held, _, stack))| Owned {
            name,
            held,
            callers: callers(world, stack, name),
        })
        .collect();
    places.sort_by_key(|place| {
        let held = place.held;
        let name = place.name.map(|name| (&name.function, &name.location));
        (Reverse((weight(&held), held.bytes, held.blocks)), name)
    });
    Ok(places)
}

/// The callers of a place in a stack.
fn callers<'w>(world: &'w World, stack: usize, place: Option<&Name>) -> Vec<&'w Name> {
    let whole = world.stacks.get(stack).map(|stack| stack.whole);
    let names = whole.into_iter().flat_map(|line| world.named(line));
    let outwards = names.skip_while(|name| Some(*name) != place);
    outwards.skip(1).collect()
}
