//! Sets of stacks, gathered of what a script has in its hands.

use std::sync::Arc;

use memlog_analysis::Held;
use memlog_answers::held_of;
use rhai::Dynamic;

use crate::block::{Allocation, Map};
use crate::chosen::{Chosen, StackKey, StackSet};
use crate::env::{Env, Log, Made, refused};
use crate::groups::Groups;
use crate::list::{AllocationList, List, MapList};
use crate::stack::{Backtrace, keys_of};

/// The stacks of what a script hands over: lists, groups, stacks, numbers, arrays of those.
pub(crate) fn gathered(env: &Env, log: &Log, given: Dynamic) -> Made<Arc<StackSet>> {
    let mut set = StackSet::default();
    gather(log, &mut set, given)?;
    env.takes(set.len())?;
    Ok(Arc::new(set))
}

fn gather(log: &Log, set: &mut StackSet, given: Dynamic) -> Made<()> {
    if let Ok(number) = given.as_int() {
        let number = u32::try_from(number);
        set.numbers
            .insert(number.map_err(|_| refused("a stack has a number of 0 or more"))?);
    } else if let Some(stack) = given.clone().try_cast::<Backtrace>() {
        log.must_be(&stack.log)?;
        set.keys.insert(stack.key);
    } else if let Some(one) = given.clone().try_cast::<Allocation>() {
        log.must_be(&one.0.log)?;
        set.keys.extend(one.0.stack);
    } else if let Some(one) = given.clone().try_cast::<Map>() {
        log.must_be(&one.0.log)?;
        set.keys.extend(one.0.stack);
    } else if let Some(list) = given.clone().try_cast::<AllocationList>() {
        log.must_be(&list.0.log)?;
        set.keys.extend(stacks_of(&list.0)?);
    } else if let Some(list) = given.clone().try_cast::<MapList>() {
        log.must_be(&list.0.log)?;
        set.keys.extend(stacks_of(&list.0)?);
    } else if let Some(groups) = given.clone().try_cast::<Groups>() {
        log.must_be(&groups.list.log)?;
        set.keys
            .extend(groups.rows.iter().flat_map(|row| row.keys.iter().copied()));
    } else if given.is_array() {
        for one in given.into_array().unwrap_or_default() {
            gather(log, set, one)?;
        }
    } else {
        return Err(refused(format!(
            "stacks are those of an allocation, a map, a list, groups, a backtrace, or a stack's \
             number, or an array of such; this is {}",
            given.type_name()
        )));
    }
    Ok(())
}

/// The stacks that asked for the blocks of a list.
fn stacks_of(list: &List) -> Made<Vec<StackKey>> {
    let (chosen, of) = (list.chosen.clone(), list.of);
    list.log.ask(move |desk| {
        let world = desk.world(of, chosen.needs_names())?;
        let held: Vec<Held> = held_of(world, &chosen.choice(desk, of)?)?;
        let is_there = |number: u32| {
            held.get(number as usize)
                .is_some_and(|held| held.blocks > 0)
        };
        Ok(keys_of(world, is_there)
            .into_iter()
            .map(|(_, key)| key)
            .collect())
    })
}

/// Only these stacks, or all others; those that asked, or those that released.
pub(crate) fn matching(list: &List, given: Dynamic, is_not: bool, is_release: bool) -> Made<List> {
    let set = gathered(&list.log.env, &list.log, given)?;
    let stacks = Chosen::stacks(set, is_release);
    if is_release {
        list.knows_releases()?;
    }
    match is_not {
        true => list.and(&stacks.negated().map_err(refused)?),
        false => list.and(&stacks),
    }
}
