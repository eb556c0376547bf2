//! A function with those that call it and those that it calls.

use std::collections::HashMap;

use crate::choice::Choice;
use crate::group::sums_of_stacks;
use crate::sums::Sums;
use crate::world::{Damaged, World};

/// A function, and what is around it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Around {
    /// What it asked for itself.
    pub own: Sums,
    /// And what was asked for by what it called.
    pub below: Sums,
    /// By the function that called it, what came of those calls; the most bytes first.
    pub callers: Vec<(String, Sums)>,
    /// By the function that it called, what that asked for or called others for.
    pub callees: Vec<(String, Sums)>,
    /// The names that were meant.
    pub names: Vec<String>,
}

/// What stands for a caller where there is none.
const NOBODY: &str = "(nobody)";

/// Of all functions whose name fits. A function that calls itself is one: its callers
/// are those of the outermost call, and its callees those of the innermost.
pub fn around(
    world: &World,
    choice: &Choice,
    fits: impl Fn(&str) -> bool,
) -> Result<Around, Damaged> {
    let sums = sums_of_stacks(world, choice)?;
    let is_it: Vec<bool> = world
        .names
        .iter()
        .map(|name| fits(&name.function))
        .collect();
    let is_it = |label: &u32| is_it.get(*label as usize).copied().unwrap_or(false);
    let function = |label: u32| {
        let name = world.names.get(label as usize);
        name.map_or_else(String::new, |name| name.function.clone())
    };
    let mut around = Around::default();
    let (mut callers, mut callees) = (HashMap::new(), HashMap::new());
    let add = |map: &mut HashMap<String, Sums>, name: String, sums: &Sums| {
        let known = map.entry(name).or_default();
        *known = known.plus(*sums);
    };
    let mut labels: Vec<u32> = Vec::new();
    for (path, sums) in world
        .paths
        .iter()
        .zip(&sums)
        .filter(|(_, sums)| sums.blocks > 0)
    {
        // From the function that asked outwards.
        let path = path.outwards();
        let Some(innermost) = path.iter().position(is_it) else {
            continue;
        };
        let outermost = path.iter().rposition(is_it).unwrap_or(innermost);
        labels.extend(path.iter().filter(|label| is_it(label)));
        around.below = around.below.plus(*sums);
        match innermost.checked_sub(1).and_then(|callee| path.get(callee)) {
            Some(&callee) => add(&mut callees, function(callee), sums),
            None => around.own = around.own.plus(*sums),
        }
        let caller = path.get(outermost + 1);
        let caller = caller.map_or_else(|| NOBODY.to_owned(), |&caller| function(caller));
        add(&mut callers, caller, sums);
    }
    around.callers = sorted(callers);
    around.callees = sorted(callees);
    around.names = labels.into_iter().map(function).collect();
    around.names.sort_unstable();
    around.names.dedup();
    Ok(around)
}

fn sorted(map: HashMap<String, Sums>) -> Vec<(String, Sums)> {
    let mut list: Vec<_> = map.into_iter().collect();
    list.sort_by(|(one_name, one), (other_name, other)| {
        let by_bytes = other.bytes.cmp(&one.bytes);
        by_bytes
            .then(other.blocks.cmp(&one.blocks))
            .then(one_name.cmp(other_name))
    });
    list
}
