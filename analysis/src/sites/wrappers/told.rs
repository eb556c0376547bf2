//! What was passed over, as it is told.

use std::collections::HashMap;

use super::super::askers::{Asker, END};
use super::{Passed, Weighed};

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
