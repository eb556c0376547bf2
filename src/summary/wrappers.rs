//! Functions that only pass on what others ask for, and answer nothing.
//!
//! ```text
//! malloc by another name, that somebody calls:           pass it over
//! an allocator by name, of no one caller that has nearly all of it, or whose
//! one caller is such an allocator:                       pass it over
//! repeat, at most so many steps:
//!     who asks, what was passed over left out?
//!     the fewest that hold nearly all:
//!         one, of more than one caller, none of whom has nearly all of it,
//!         or a few, each of many callers, none of whom has half:  pass them over
//!     else: done
//! ```
//!
//! So one place that holds all for one caller stays what it is: the answer.
//! A function that calls itself is not its own caller. Pages of several lists
//! pass over the same functions in all of them: an allocator by name has to be
//! one in the first list that it is in, any other function in one of them, and
//! to be the answer of none.

use std::collections::HashMap;

use memlog_export::Allocator;

use super::askers::{Asker, END, Function};

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
        self.0[asker.function as usize]
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
    let mut passed = Passed(by_name(lists, askers, functions));
    for _ in 0..STEPS {
        let left = passed.left(askers);
        let asked = lists.iter().map(|list| asked(list, askers, &left));
        let asked: Vec<_> = asked.collect();
        let is_answer = |function: &u32| {
            let mut lists = asked.iter();
            lists.any(|list| {
                list.by_function
                    .get(function)
                    .is_some_and(|one| one.is_answer(list))
            })
        };
        let mut steps: Vec<Vec<u32>> = asked.iter().map(next_step).collect();
        steps.retain(|step| !step.iter().any(is_answer));
        if steps.iter().all(Vec::is_empty) {
            break;
        }
        for function in steps.into_iter().flatten() {
            passed.0[function as usize] = true;
        }
    }
    passed
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

fn by_name(lists: &[Vec<Weighed>], askers: &[Asker], functions: &[Function]) -> Vec<bool> {
    let lists = lists.iter().map(|list| called(list, askers, functions));
    let lists: Vec<_> = lists.collect();
    let is_passed = |function: u32| {
        let asked = lists.iter().find_map(|list| list.get(&function));
        let is_passed_on = |asked: &Asked| {
            let largest = asked
                .callers
                .iter()
                .max_by_key(|&(&caller, &sum)| (sum, caller));
            let is_named =
                |(&caller, _): (&u32, &u64)| functions[caller as usize].allocator != Allocator::No;
            asked.is_divided(2, NEARLY_ALL) || largest.is_some_and(is_named)
        };
        match functions[function as usize].allocator {
            Allocator::No => false,
            Allocator::Something => asked.is_some_and(is_passed_on),
            Allocator::Malloc => asked.is_some(),
        }
    };
    (0..functions.len() as u32).map(is_passed).collect()
}

/// Allocators by name that somebody calls: for what, wherever on the stacks.
fn called(list: &[Weighed], askers: &[Asker], functions: &[Function]) -> HashMap<u32, Asked> {
    let mut sums = vec![0u64; askers.len()];
    for &(asker, weight) in list {
        sums[asker as usize] = sums[asker as usize].saturating_add(weight);
    }
    let mut all: HashMap<u32, Asked> = HashMap::new();
    for (number, asker) in askers.iter().enumerate().skip(1).rev() {
        let (sum, outer) = (sums[number], asker.outer as usize);
        sums[outer] = sums[outer].saturating_add(sum);
        let is_called = asker.outer != END && asker.outer == asker.caller;
        let is_named = functions[asker.function as usize].allocator != Allocator::No;
        if sum > 0 && is_called && is_named {
            let asked = all.entry(asker.function).or_default();
            asked.weight = asked.weight.saturating_add(sum);
            asked.add(&askers[outer], sum);
        }
    }
    all
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

/// A function that was passed over.
#[derive(Clone, Copy)]
pub struct Through {
    pub function: u32,
    /// What was asked through it.
    pub weight: u64,
}

/// What was passed over in a list, by how far outwards most of it was: the
/// innermost first, the largest first.
pub fn steps(
    list: &[Weighed],
    passed: &Passed,
    left: &[u32],
    askers: &[Asker],
) -> Vec<Vec<Through>> {
    let mut sums = vec![0u64; askers.len()];
    let mut depths = vec![u32::MAX; askers.len()];
    // Where nobody is left nothing was passed over.
    for &(asker, weight) in list
        .iter()
        .filter(|(asker, _)| left[*asker as usize] != END)
    {
        sums[asker as usize] = sums[asker as usize].saturating_add(weight);
        depths[asker as usize] = 0;
    }
    let mut found: HashMap<u32, HashMap<u32, u64>> = HashMap::new();
    for (number, asker) in askers.iter().enumerate().skip(1).rev() {
        let (sum, depth) = (sums[number], depths[number]);
        if depth == u32::MAX || !passed.has(asker) {
            continue;
        }
        let outer = asker.outer as usize;
        sums[outer] = sums[outer].saturating_add(sum);
        let is_called = asker.outer == asker.caller;
        depths[outer] = depths[outer].min(depth + u32::from(is_called));
        if is_called {
            let weight = found
                .entry(asker.function)
                .or_default()
                .entry(depth)
                .or_default();
            *weight = weight.saturating_add(sum);
        }
    }
    in_order(&found)
}

fn in_order(found: &HashMap<u32, HashMap<u32, u64>>) -> Vec<Vec<Through>> {
    let mut steps: Vec<(u32, Through)> = Vec::new();
    for (&function, depths) in found {
        let most = depths
            .iter()
            .max_by_key(|&(&depth, &weight)| (weight, depth));
        let depth = most.map_or(0, |(&depth, _)| depth);
        let weight = depths
            .values()
            .fold(0u64, |sum, one| sum.saturating_add(*one));
        steps.push((depth, Through { function, weight }));
    }
    steps
        .sort_unstable_by_key(|(depth, one)| (*depth, std::cmp::Reverse(one.weight), one.function));
    let chunks = steps.chunk_by(|(one, _), (other, _)| one == other);
    let chunks = chunks.map(|chunk| chunk.iter().map(|(_, one)| *one).collect());
    chunks.collect()
}
