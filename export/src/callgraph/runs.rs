//! Runs of places that only pass on: each asks one other for what one other
//! asks of it. Such a run is one box, for a chain of forty boxes that say the
//! same is a page that nobody can read.
//!
//! A run ends where the page has a fork, a join, an arrow of a place to itself
//! or an arrow through places that are not shown; where somebody allocates, for
//! that line is what the reader looks for; and where it would hold a tenth
//! more or less than it began with: that much calls may carry that are too small
//! for the page.

use super::CallGraph;
use super::shown::{Arrow, Shown};

/// Two boxes say where they are, which one box for both does not; among many
/// boxes that is worth less than the room.
const SHORTEST_RUN: usize = 3;
const MANY: usize = 30;
const SAME_WITHIN: f64 = 0.1;

/// The places of each box, caller above callee, as they are numbered on the
/// page; the boxes in the order of the first of their numbers.
pub(super) fn boxes(shown: &Shown, graph: &CallGraph, joins_runs: bool) -> Vec<Vec<usize>> {
    let count = shown.places.len();
    let next = match joins_runs {
        true => next(shown, graph),
        false => vec![None; count],
    };
    let shortest = if count > MANY { 2 } else { SHORTEST_RUN };
    let held = |place: usize| graph.entries[shown.places[place]].held.bytes;
    let mut has_before = vec![false; count];
    next.iter()
        .flatten()
        .for_each(|&after: &usize| has_before[after] = true);
    let mut boxes: Vec<Vec<usize>> = Vec::new();
    let mut is_in_run = vec![false; count];
    for first in (0..count).filter(|&place| !has_before[place]) {
        let chain = std::iter::successors(Some(first), |&place: &usize| next[place]);
        let chain: Vec<usize> = chain.collect();
        let mut rest = &chain[..];
        while let Some(&first) = rest.first() {
            let is_other = |&place: &usize| !is_same(held(first), held(place));
            let end = rest.iter().position(is_other).unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            if run.len() >= shortest {
                run.iter().for_each(|&place| is_in_run[place] = true);
                boxes.push(run.to_vec());
            }
            rest = after;
        }
    }
    // A circle that nothing leads into has no first place, and is no run.
    let others = (0..count).filter(|&place| !is_in_run[place]);
    boxes.extend(others.map(|place| vec![place]));
    boxes.sort_by_key(|run| run.iter().copied().min());
    boxes
}

fn is_same(one: u64, other: u64) -> bool {
    one.abs_diff(other) as f64 <= SAME_WITHIN * one as f64
}

/// By place: the one that follows it in its run.
fn next(shown: &Shown, graph: &CallGraph) -> Vec<Option<usize>> {
    let count = shown.places.len();
    let (mut coming, mut leaving) = (vec![0_usize; count], vec![0_usize; count]);
    for arrow in &shown.arrows {
        leaving[arrow.from] += 1;
        coming[arrow.to] += 1;
    }
    let entry = |place: usize| &graph.entries[shown.places[place]];
    let passes_on =
        |place: usize| coming[place] <= 1 && leaving[place] == 1 && entry(place).own.blocks == 0;
    let carries_all = |arrow: &Arrow| {
        let mut ends = [arrow.from, arrow.to].into_iter();
        arrow.is_call() && ends.all(|place| is_same(entry(place).held.bytes, arrow.bytes))
    };
    let mut next = vec![None; count];
    for arrow in &shown.arrows {
        let is_run = passes_on(arrow.from) && passes_on(arrow.to) && carries_all(arrow);
        if is_run && arrow.from != arrow.to {
            next[arrow.from] = Some(arrow.to);
        }
    }
    next
}
