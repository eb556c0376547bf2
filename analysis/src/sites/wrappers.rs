//! Functions that only pass on what others ask for, and answer nothing.
//!
//! ```text
//! malloc by another name, that somebody calls:           pass it over
//! what that is made of, within a few frames:             pass it over
//! an allocator by name, of no one caller that has nearly all of it, or whose
//! one caller is such an allocator:                       pass it over
//! repeat, at most so many steps:
//!     who asks, what was passed over left out?
//!     the fewest that hold nearly all:
//!         one, of more than one caller, none of whom has nearly all of it,
//!         or a few, each of many callers, none of whom has half:  pass them over
//!     places without names near to such ones, called from afar:  pass them over
//!     if none: done
//! in the first list one that holds nearly all and has several callers, one of
//! whom has nearly all of it: if a few steps outwards there is a place whose
//! callers differ, none having nearly all:                pass over all up to it
//! ```
//!
//! What is passed over is so on every path. One place that holds all for one
//! caller stays what it is: the answer.
//! A function that calls itself is not its own caller. Pages of several lists
//! pass over the same functions in all of them: an allocator by name has to be
//! one in the first list that it is in, any other function in one of them, and
//! to be the answer of none.

mod beside;
mod chain;
mod named;
mod told;

use std::collections::HashMap;

use super::PassedOver;
use super::askers::{Asker, END, Function};
use beside::Allocators;
pub use told::{Through, steps};

const HALF: f64 = 0.5;
const NEARLY_ALL: f64 = 0.8;
/// So many may hold nearly all together.
const FEW: usize = 4;
const MANY_CALLERS: usize = 4;
const STEPS: usize = 8;

/// The innermost asker of a stack, and the stack's weight.
pub type Weighed = (u32, u64);

/// Functions that are passed over, by number.
pub struct Passed(Vec<bool>);

impl Passed {
    pub fn has(&self, asker: &Asker) -> bool {
        self.has_function(asker.function)
    }

    pub fn has_function(&self, function: u32) -> bool {
        self.0[function as usize]
    }

    /// Those that others found, in so many functions with their numbers.
    pub fn known<'f>(
        known: &PassedOver,
        functions: impl ExactSizeIterator<Item = (&'f (String, Option<String>), u32)>,
    ) -> Self {
        let mut passed = vec![false; functions.len()];
        for (function, number) in functions {
            passed[number as usize] = known.contains(function);
        }
        Self(passed)
    }

    /// By function whether it is passed over.
    #[cfg(test)]
    pub fn each(&self) -> &[bool] {
        &self.0
    }

    /// By asker: the first one that is left, itself or outside of it.
    pub fn left(&self, askers: &[Asker]) -> Vec<u32> {
        let mut left = vec![END; askers.len()];
        for (number, asker) in askers.iter().enumerate().skip(1) {
            left[number] = match self.has(asker) {
                true => left[asker.outer as usize],
                false => number as u32,
            };
        }
        left
    }
}

/// What is passed over in these lists of stacks.
pub fn passed_over(lists: &[Vec<Weighed>], askers: &[Asker], functions: &[Function]) -> Passed {
    let mut passed = Passed(named::by_name(lists, askers, functions));
    // What was found beside them is not what others are found beside of.
    let mut kept = Passed(passed.0.clone());
    for _ in 0..STEPS {
        let left = passed.left(askers);
        let asked = lists.iter().map(|list| asked(list, askers, &left));
        let asked: Vec<_> = asked.collect();
        let divided = divided(&asked);
        let allocators = Allocators::of(&kept, functions);
        let asked = asked.iter();
        let beside = asked.flat_map(|list| allocators.beside(list, &passed, functions));
        let beside: Vec<u32> = beside.collect();
        if divided.is_empty() && beside.is_empty() {
            break;
        }
        for &function in &divided {
            kept.0[function as usize] = true;
        }
        for function in divided.into_iter().chain(beside) {
            passed.0[function as usize] = true;
        }
    }
    if let Some(list) = lists.first() {
        let left = passed.left(askers);
        let asked = asked(list, askers, &left);
        for function in chain::chain(&asked, list, &left, askers, functions) {
            passed.0[function as usize] = true;
        }
    }
    passed
}

/// What is divided by its callers in a list, and the answer of none.
fn divided(asked: &[Asking]) -> Vec<u32> {
    let is_answer = |function: &u32| {
        let mut lists = asked.iter();
        lists.any(|list| {
            let one = list.by_function.get(function);
            one.is_some_and(|one| one.is_answer(list))
        })
    };
    let mut steps: Vec<Vec<u32>> = asked.iter().map(next_step).collect();
    steps.retain(|step| !step.iter().any(is_answer));
    steps.into_iter().flatten().collect()
}

/// Who asks in a list, by function.
struct Asking {
    by_function: HashMap<u32, Asked>,
    total: u64,
}

/// What of a function is known in a list.
#[derive(Default)]
struct Asked {
    weight: u64,
    callers: HashMap<u32, u64>,
}

impl Asked {
    fn add(&mut self, caller: &Asker, weight: u64) {
        let sum = self.callers.entry(caller.function).or_default();
        *sum = sum.saturating_add(weight);
    }

    /// Whether so many callers divide it, none having that part of it.
    fn is_divided(&self, callers: usize, part: f64) -> bool {
        let largest = self.callers.values().copied().max().unwrap_or_default();
        self.callers.len() >= callers && (largest as f64) < part * self.weight as f64
    }

    /// Whether it is much of a list, and one caller's.
    fn is_answer(&self, list: &Asking) -> bool {
        self.weight as f64 >= HALF * list.total as f64 && !self.is_divided(2, NEARLY_ALL)
    }
}

fn next_step(list: &Asking) -> Vec<u32> {
    let asked = list.by_function.iter();
    let mut largest: Vec<(u32, &Asked)> = asked.map(|(&one, asked)| (one, asked)).collect();
    largest.sort_unstable_by_key(|&(function, asked)| (std::cmp::Reverse(asked.weight), function));
    let part = |few: &[(u32, &Asked)]| {
        let sum: u64 = few.iter().map(|(_, asked)| asked.weight).sum();
        sum as f64 / list.total.max(1) as f64
    };
    let most = largest.len().min(FEW);
    let count = (1..=most).find(|&count| part(&largest[..count]) >= NEARLY_ALL);
    let few = &largest[..count.unwrap_or(0)];
    let is_wrapper = |&(_, asked): &(u32, &Asked)| match few.len() {
        1 => asked.is_divided(2, NEARLY_ALL),
        _ => asked.is_divided(MANY_CALLERS, HALF),
    };
    match few.iter().all(is_wrapper) {
        true => few.iter().map(|(function, _)| *function).collect(),
        false => Vec::new(),
    }
}

/// Who asks, and for whom.
fn asked(list: &[Weighed], askers: &[Asker], left: &[u32]) -> Asking {
    let mut by_function: HashMap<u32, Asked> = HashMap::new();
    let mut total = 0u64;
    for &(asker, weight) in list {
        total = total.saturating_add(weight);
        let asking = left[asker as usize];
        if asking == END {
            continue;
        }
        let asking = &askers[asking as usize];
        let asked = by_function.entry(asking.function).or_default();
        asked.weight = asked.weight.saturating_add(weight);
        if asking.caller != END {
            asked.add(&askers[asking.caller as usize], weight);
        }
    }
    Asking { by_function, total }
}
