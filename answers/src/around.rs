//! A function with those that call it and those that it calls.

use std::collections::HashMap;

use memlog_analysis::{END, first_outwards};

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
    let is_it = world.labels_that(|name| fits(&name.function));
    let is_it = |label: u32| is_it.get(label as usize).copied().unwrap_or(false);
    let innermost = first_outwards(&world.lines, is_it);
    // By line the one that was called by the innermost, and the outermost of them.
    let (mut callee, mut outermost) = (vec![END; 1], vec![END; 1]);
    for (line, own) in (0u32..).zip(&world.lines).skip(1) {
        let callers = own.callers as usize;
        let is_right_inside = innermost[callers] == own.callers && callers != END as usize;
        callee.push(match is_right_inside {
            true => line,
            false => callee[callers],
        });
        outermost.push(match outermost[callers] {
            END if is_it(own.label) => line,
            outer => outer,
        });
    }
    let mut around = Around::default();
    let (mut callers, mut callees) = (HashMap::new(), HashMap::new());
    let add = |map: &mut HashMap<u32, Sums>, line: u32, sums: &Sums| {
        let known = map.entry(line).or_default();
        *known = known.plus(*sums);
    };
    let chosen = world.stacks.iter().zip(&sums);
    for (stack, sums) in chosen.filter(|(_, sums)| sums.blocks > 0) {
        let asker = stack.asker as usize;
        let inner = innermost.get(asker).copied().unwrap_or(END);
        if inner == END {
            continue;
        }
        around.below = around.below.plus(*sums);
        match inner == stack.asker {
            true => around.own = around.own.plus(*sums),
            false => add(&mut callees, callee[asker], sums),
        }
        let outer = world.lines[outermost[asker] as usize];
        add(&mut callers, outer.callers, sums);
    }
    around.callers = by_name(world, callers);
    around.callees = by_name(world, callees);
    around.names = world.labels_on_the_way(&sums, is_it);
    Ok(around)
}

/// By the function of each line, the most bytes first.
fn by_name(world: &World, lines: HashMap<u32, Sums>) -> Vec<(String, Sums)> {
    let mut map: HashMap<&str, Sums> = HashMap::new();
    for (line, sums) in lines {
        let name = world.label(line);
        let name = name.and_then(|label| world.names.get(label as usize));
        let known = map
            .entry(name.map_or(NOBODY, |name| &name.function))
            .or_default();
        *known = known.plus(sums);
    }
    let list = map.into_iter().map(|(name, sums)| (name.to_owned(), sums));
    let mut list: Vec<_> = list.collect();
    list.sort_by(|(one_name, one), (other_name, other)| {
        let by_bytes = other.bytes.cmp(&one.bytes);
        by_bytes
            .then(other.blocks.cmp(&one.blocks))
            .then(one_name.cmp(other_name))
    });
    list
}
