//! Functions that only pass on what others ask for, and answer nothing.
//!
//! ```text
//! allocators by name, of two callers at least at any time: wrappers
//! repeat, at most so many steps:
//!     who asks, what was passed over left out?
//!     wrappers hold half of it:                      pass them over
//!     else the fewest that hold nearly all:
//!         one, of more than one caller, none of whom has nearly all of it,
//!         or a few, each of many callers, none of whom has half:  pass them over
//!     else: done
//! ```
//!
//! So one place that holds all for one caller stays what it is: the answer.
//! A function that calls itself is not its own caller.

use std::collections::{HashMap, HashSet};

use super::askers::{Askers, Stacks};

/// From this part of all on, wrappers by name are passed over.
const HALF: f64 = 0.5;
const NEARLY_ALL: f64 = 0.8;
/// So many may hold nearly all together.
const FEW: usize = 4;
const MANY_CALLERS: usize = 4;
const STEPS: usize = 8;

/// A stack and its weight.
pub type Weighed = (u32, u64);

/// Functions whose name says that they allocate, and whose callers, those of
/// such names left out, are more than one.
pub fn by_name<S: Stacks>(
    stacks: impl Iterator<Item = u32>,
    askers: &mut Askers<S>,
) -> HashSet<u32> {
    let mut first_caller: HashMap<u32, u32> = HashMap::new();
    let mut wrappers = HashSet::new();
    let mut chain = Vec::new();
    for stack in stacks {
        chain.clear();
        let mut walk = askers.walk(stack);
        while let Some(label) = askers.next(&mut walk) {
            let function = askers.function(label);
            let known = &askers.functions()[function as usize];
            if known.is_named_allocator && !known.is_of_c_library {
                chain.push(function);
                continue;
            }
            for &wrapper in &chain {
                if *first_caller.entry(wrapper).or_insert(function) != function {
                    wrappers.insert(wrapper);
                }
            }
            break;
        }
    }
    wrappers
}

/// What of a function is known in a step.
#[derive(Default)]
struct Asked {
    weight: u64,
    callers: HashMap<u32, u64>,
}

impl Asked {
    /// Whether so many callers divide it, none having that part of it.
    fn is_divided(&self, callers: usize, part: f64) -> bool {
        let largest = self.callers.values().copied().max().unwrap_or_default();
        self.callers.len() >= callers && (largest as f64) < part * self.weight as f64
    }
}

/// A function that was passed over, and its part of all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passed {
    pub function: u32,
    pub part: f64,
}

/// What is passed over, step by step, the innermost first, the largest first.
pub fn passed_over<S: Stacks>(
    stacks: &[Weighed],
    by_name: &HashSet<u32>,
    askers: &mut Askers<S>,
) -> Vec<Vec<Passed>> {
    let total: u64 = stacks.iter().map(|(_, weight)| weight).sum();
    let (mut steps, mut passed) = (Vec::new(), HashSet::new());
    while steps.len() < STEPS && total > 0 {
        let asked = asked(stacks, &passed, askers);
        let step = next_step(&asked, by_name, total);
        if step.is_empty() {
            break;
        }
        passed.extend(step.iter().map(|one| one.function));
        steps.push(step);
    }
    steps
}

fn next_step(asked: &HashMap<u32, Asked>, by_name: &HashSet<u32>, total: u64) -> Vec<Passed> {
    let mut largest: Vec<(u32, &Asked)> = asked.iter().map(|(&one, asked)| (one, asked)).collect();
    largest.sort_unstable_by_key(|&(function, asked)| (std::cmp::Reverse(asked.weight), function));
    let part = |list: &[(u32, &Asked)]| {
        let sum: u64 = list.iter().map(|(_, asked)| asked.weight).sum();
        sum as f64 / total as f64
    };
    let mut named = largest.clone();
    named.retain(|(function, asked)| by_name.contains(function) && !asked.callers.is_empty());
    let functions = |list: &[(u32, &Asked)]| {
        let part = |&(function, asked): &(u32, &Asked)| Passed {
            function,
            part: asked.weight as f64 / total as f64,
        };
        list.iter().map(part).collect()
    };
    if part(&named) >= HALF {
        return functions(&named);
    }
    let most = largest.len().min(FEW);
    let count = (1..=most).find(|&count| part(&largest[..count]) >= NEARLY_ALL);
    let few = &largest[..count.unwrap_or(0)];
    let is_wrapper = |&(function, asked): &(u32, &Asked)| match few.len() {
        1 => asked.is_divided(2, NEARLY_ALL),
        _ => by_name.contains(&function) || asked.is_divided(MANY_CALLERS, HALF),
    };
    match few.iter().all(is_wrapper) {
        true => functions(few),
        false => Vec::new(),
    }
}

/// Who asks, by function, and for whom.
fn asked<S: Stacks>(
    stacks: &[Weighed],
    passed: &HashSet<u32>,
    askers: &mut Askers<S>,
) -> HashMap<u32, Asked> {
    let mut all: HashMap<u32, Asked> = HashMap::new();
    for &(stack, weight) in stacks {
        let mut walk = askers.walk(stack);
        let mut asking = None;
        while let Some(label) = askers.next(&mut walk) {
            let function = askers.function(label);
            match asking {
                None if passed.contains(&function) => {}
                None => asking = Some(function),
                Some(asking) if asking == function => {}
                Some(asking) => {
                    let asked = all.entry(asking).or_default();
                    let caller = asked.callers.entry(function).or_default();
                    *caller = caller.saturating_add(weight);
                    break;
                }
            }
        }
        if let Some(asking) = asking {
            let asked = all.entry(asking).or_default();
            asked.weight = asked.weight.saturating_add(weight);
        }
    }
    all
}
