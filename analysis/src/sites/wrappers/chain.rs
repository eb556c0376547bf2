//! A library's allocator whose callers are found a few steps outwards.

use std::collections::HashMap;

use super::super::askers::{Asker, END, Function};
use super::{Asking, NEARLY_ALL, Weighed};

/// Functions of it at most: what is longer is a program's work.
const LONGEST: usize = 4;

/// What asks for nearly all, for more than one caller though nearly all of it is
/// one's, up to the place whose callers differ, none of whom has nearly all.
pub fn chain(
    list: &Asking,
    weighed: &[Weighed],
    left: &[u32],
    askers: &[Asker],
    functions: &[Function],
) -> Vec<u32> {
    let nearly_all = NEARLY_ALL * list.total as f64;
    let largest = list.by_function.iter().max_by_key(|(_, one)| one.weight);
    let largest = largest.filter(|(_, one)| one.weight as f64 >= nearly_all);
    let Some((&first, _)) = largest.filter(|(_, one)| one.callers.len() > 1) else {
        return Vec::new();
    };
    let sums = sums(weighed, left, askers);
    let mut passed = vec![first];
    while passed.len() <= LONGEST {
        let callers = Callers::of(passed[passed.len() - 1], &sums, askers, functions);
        if (callers.weight as f64) < nearly_all {
            break;
        }
        match callers.main_one() {
            Some(function) if !passed.contains(&function) => passed.push(function),
            None if callers.differ() => return passed,
            _ => break,
        }
    }
    Vec::new()
}

/// By asker what is asked for by it and through it.
fn sums(list: &[Weighed], left: &[u32], askers: &[Asker]) -> Vec<u64> {
    let mut sums = vec![0u64; askers.len()];
    for &(asker, weight) in list {
        let asking = left[asker as usize] as usize;
        sums[asking] = sums[asking].saturating_add(weight);
    }
    for number in (1..askers.len()).rev() {
        let (sum, outer) = (sums[number], askers[number].outer as usize);
        sums[outer] = sums[outer].saturating_add(sum);
    }
    sums
}

/// Who calls a function, and for how much.
#[derive(Default)]
struct Callers<'f> {
    weight: u64,
    by_function: HashMap<u32, u64>,
    /// Those without names are one where they are of one file and below the same
    /// function with a name: they may be one function's.
    by_kind: HashMap<(Option<&'f str>, Option<u32>), u64>,
}

impl<'f> Callers<'f> {
    fn of(function: u32, sums: &[u64], askers: &[Asker], functions: &'f [Function]) -> Self {
        let mut callers = Self::default();
        let all = askers.iter().zip(sums).filter(|(asker, _)| {
            let is_called = asker.caller != END && asker.outer == asker.caller;
            asker.function == function && is_called
        });
        for (asker, &sum) in all {
            let caller = &askers[asker.caller as usize];
            let file = functions[caller.function as usize].file.as_deref();
            let named = (caller.named != END).then(|| askers[caller.named as usize].function);
            let sums = [
                &mut callers.weight,
                callers.by_function.entry(caller.function).or_default(),
                callers.by_kind.entry((file, named)).or_default(),
            ];
            for one in sums {
                *one = one.saturating_add(sum);
            }
        }
        callers
    }

    fn is_most(&self, sum: u64) -> bool {
        sum as f64 >= NEARLY_ALL * self.weight as f64
    }

    fn main_one(&self) -> Option<u32> {
        let mut functions = self.by_function.iter();
        let most = functions.find(|(_, sum)| self.is_most(**sum));
        most.map(|(&function, _)| function)
    }

    fn differ(&self) -> bool {
        !self.by_kind.values().any(|&sum| self.is_most(sum))
    }
}
