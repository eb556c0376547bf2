//! Functions that say by their names that they allocate, and what these call.

use std::collections::HashMap;

use super::super::askers::{Asker, END, Function};
use super::{Asked, NEARLY_ALL, Weighed};
use crate::library::Allocator;

/// Functions of an allocator at most between the recorded call and the one that
/// has its name: what is farther away is no more than called malloc.
const REACH: usize = 8;
/// A part of a list that says what an allocator is made of.
const LEAST_PART: f64 = 0.01;

/// Functions that are passed over for their names.
pub fn by_name(lists: &[Vec<Weighed>], askers: &[Asker], functions: &[Function]) -> Vec<bool> {
    let asked = lists.iter().map(|list| called(list, askers, functions));
    let asked: Vec<_> = asked.collect();
    let is_passed = |function: u32| {
        let asked = asked.iter().find_map(|list| list.get(&function));
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
    let mut passed: Vec<bool> = (0..functions.len() as u32).map(is_passed).collect();
    for function in lists
        .iter()
        .flat_map(|list| below_malloc(list, askers, functions))
    {
        passed[function as usize] = true;
    }
    passed
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

/// What malloc by another name is made of: nearer to the recorded call, and
/// nearly all that goes through it goes through that. What main calls may be
/// named so for what it tests.
fn below_malloc(list: &[Weighed], askers: &[Asker], functions: &[Function]) -> Vec<u32> {
    let is_called = |asker: &Asker| {
        let caller = &askers[asker.caller as usize];
        asker.caller != END && caller.outer != END
    };
    let mut total = 0u64;
    let mut mallocs: HashMap<u32, (u64, HashMap<u32, u64>)> = HashMap::new();
    let mut inner: Vec<u32> = Vec::new();
    for &(start, weight) in list {
        total = total.saturating_add(weight);
        inner.clear();
        let mut at = start;
        while at != END && inner.len() < REACH {
            let asker = &askers[at as usize];
            let is_malloc = functions[asker.function as usize].allocator == Allocator::Malloc;
            if is_malloc && is_called(asker) && !inner.contains(&asker.function) {
                let (sum, below) = mallocs.entry(asker.function).or_default();
                *sum = sum.saturating_add(weight);
                for &function in &inner {
                    let sum = below.entry(function).or_default();
                    *sum = sum.saturating_add(weight);
                }
            }
            if !inner.contains(&asker.function) {
                inner.push(asker.function);
            }
            at = asker.outer;
        }
    }
    let least = (total as f64 * LEAST_PART).max(1.0);
    let mallocs = mallocs.into_values();
    let mallocs = mallocs.filter(|(sum, _)| *sum as f64 >= least);
    let made_of = mallocs.flat_map(|(sum, below)| {
        let most = below.into_iter();
        most.filter(move |(_, part)| *part as f64 >= NEARLY_ALL * sum as f64)
    });
    made_of.map(|(function, _)| function).collect()
}
