//! The tree of a moment, grown from either end.

use memlog_analysis::{CallTree, Held};
use memlog_export::When;

use super::filter::{Filter, Sieve};
use super::labels::Labels;
use crate::open::Analysis;
use crate::words::percentage;

/// Where the roots are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// At the functions that called the allocator; below are their callers.
    BottomUp,
    /// At main; below is what it called.
    TopDown,
}

/// What a tree is to show.
pub struct Shape<'f> {
    pub direction: Direction,
    /// What holds less than so many percent is folded.
    pub threshold: f64,
    pub filter: &'f Filter,
}

/// A tree, and what it is a part of.
pub struct Grown {
    pub tree: CallTree,
    /// What was held, filtered or not.
    pub whole: Held,
}

impl Grown {
    /// How much of the whole passed the filter.
    pub fn percent(&self) -> f64 {
        percentage(self.tree.total().bytes, self.whole.bytes)
    }
}

/// Grows the tree of a moment.
pub fn grow(analysis: &Analysis, when: When, shape: &Shape, labels: &mut Labels) -> Grown {
    let mut held: Vec<_> = analysis.fold.held(when.moment()).collect();
    let whole = sum(&held);
    let mut sieve = Sieve::new(shape.filter);
    held.retain(|&(stack, _)| sieve.keeps(stack, labels));
    let least = (sum(&held).bytes as f64 * shape.threshold / 100.0).ceil() as u64;
    let tree = match shape.direction {
        Direction::BottomUp => bottom_up(held, least, labels),
        Direction::TopDown => top_down(held, least, labels),
    };
    Grown { tree, whole }
}

fn sum(held: &[(u32, Held)]) -> Held {
    let add = |sum: Held, (_, held): &(u32, Held)| Held {
        bytes: sum.bytes.saturating_add(held.bytes),
        blocks: sum.blocks.saturating_add(held.blocks),
    };
    held.iter().fold(Held::default(), add)
}

fn bottom_up(held: Vec<(u32, Held)>, least: u64, labels: &mut Labels) -> CallTree {
    let paths = held.into_iter();
    let paths = paths.map(|(stack, held)| (labels.start(stack), held));
    let paths = paths.collect();
    CallTree::grow(paths, least, |cursor| labels.step(cursor))
}

/// A stack is linked outwards only, so each is written out and turned round.
fn top_down(held: Vec<(u32, Held)>, least: u64, labels: &mut Labels) -> CallTree {
    let mut all: Vec<u32> = Vec::new();
    let paths = held.into_iter().map(|(stack, held)| {
        let start = all.len();
        labels.path(stack, &mut all);
        all[start..].reverse();
        ((start, all.len()), held)
    });
    let paths = paths.collect();
    CallTree::grow(paths, least, |(at, end)| {
        (at < end).then(|| (all[at], (at + 1, end)))
    })
}
