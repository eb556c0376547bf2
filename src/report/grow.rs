//! The tree of a moment, grown from either end.

use memlog_analysis::{CallTree, Held};
use memlog_export::When;

use super::filter::Filter;
use super::labels::Labels;
use super::paths::{END, Paths};
use crate::names::Name;
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
    /// What its labels are called.
    pub names: Vec<Name>,
    /// What was held, filtered or not.
    pub whole: Held,
    /// What holds less than so many percent is folded: what was asked for, or
    /// more, for a tree of all would be too large.
    pub threshold: f64,
}

/// Branches at most: who reads more of them?
pub const MOST: usize = 500_000;

impl Grown {
    /// How much of the whole passed the filter.
    pub fn percent(&self) -> f64 {
        percentage(self.tree.total().bytes, self.whole.bytes)
    }
}

/// Grows the tree of a moment.
pub fn grow(analysis: &Analysis, when: When, shape: &Shape, labels: &mut Labels) -> Grown {
    let mut paths = Paths::default();
    let mut whole = Held::default();
    let mut held: Vec<Held> = Vec::new();
    for (stack, at_stack) in analysis.fold.held(when.moment()) {
        let line = paths.of(stack, labels) as usize;
        held.resize(held.len().max(line + 1), Held::default());
        held[line] = sum(held[line], at_stack);
        whole = sum(whole, at_stack);
    }
    held.resize(paths.lines().len(), Held::default());
    let names = paths.by_name(labels.names());
    let keeps = shape.filter.keeps(&paths, &names);
    for (held, _) in held.iter_mut().zip(keeps).filter(|(_, keeps)| !keeps) {
        *held = Held::default();
    }
    let total = held.iter().copied().fold(Held::default(), sum);
    let mut threshold = shape.threshold;
    let tree = loop {
        let least = (total.bytes as f64 * threshold / 100.0).ceil() as u64;
        let tree = match shape.direction {
            Direction::BottomUp => bottom_up(&paths, &held, least),
            Direction::TopDown => Some(top_down(&paths, &held, least)),
        };
        if let Some(tree) = tree {
            break tree;
        }
        threshold = (2.0 * threshold).max(0.001);
    };
    Grown {
        tree,
        names,
        whole,
        threshold,
    }
}

fn sum(one: Held, other: Held) -> Held {
    Held {
        bytes: one.bytes.saturating_add(other.bytes),
        blocks: one.blocks.saturating_add(other.blocks),
    }
}

fn bottom_up(paths: &Paths, held: &[Held], least: u64) -> Option<CallTree> {
    let lines = (0..).zip(held.iter().copied());
    let lines = lines.filter(|(_, held)| held.blocks > 0);
    CallTree::grow(lines.collect(), least, MOST, |line| paths.step(line))
}

/// Lines are linked outwards, which is upwards here.
fn top_down(paths: &Paths, held: &[Held], least: u64) -> CallTree {
    let above = |callers| match callers {
        END => None,
        line => Some(line - 1),
    };
    let lines = paths.lines().iter().zip(held).skip(1);
    let nodes = lines.map(|(line, &held)| (line.label, above(line.callers), held));
    CallTree::hang(&nodes.collect::<Vec<_>>(), least)
}
