//! The tree of a moment, grown from either end.

use memlog_analysis::{CallTree, Held, Least, Measure};
use memlog_export::When;

use super::filter::Filter;
use super::form::Form;
use super::outside;
use super::paths::{END, Line, Paths, step};
use crate::names::{Labels, Name};
use crate::open::Analysis;
use crate::page::tree::{By, Direction, MOST_BRANCHES};
use crate::words::percentage;

/// What a tree is to show.
pub struct Shape<'f> {
    /// From which end it grows.
    pub direction: Direction,
    /// What it counts.
    pub form: Form,
    /// What holds less than so many percent is folded.
    pub threshold: f64,
    /// Which stacks count.
    pub filter: &'f Filter,
}

impl Shape<'_> {
    /// All there is of each stack, for programs.
    pub fn whole(self) -> Self {
        Self {
            form: self.form.whole(),
            ..self
        }
    }
}

/// A tree, and what it is a part of.
pub struct Grown {
    pub tree: CallTree,
    /// What its labels are called.
    pub names: Vec<Name>,
    /// What there was, filtered or not.
    pub whole: Held,
    /// What the shares are of.
    pub measure: Measure,
    /// What holds less than so many percent is folded: what was asked for, or
    /// more, for a tree of all would be too large.
    pub threshold: f64,
}

impl Grown {
    /// How much of the whole passed the filter.
    pub fn percent(&self) -> f64 {
        let total = self.tree.total();
        percentage(total.by(self.measure), self.whole.by(self.measure))
    }
}

/// Grows the tree of a moment, or of the whole run.
pub fn grow(analysis: &Analysis, when: When, shape: &Shape, labels: &mut Labels) -> Grown {
    let mut paths = Paths::default();
    let mut whole = Held::default();
    let mut held: Vec<Held> = Vec::new();
    for (stack, at_stack) in counted(analysis, when, shape.form.by()) {
        let line = paths.of(stack, labels) as usize;
        held.resize(held.len().max(line + 1), Held::default());
        held[line] = held[line].plus(at_stack);
        whole = whole.plus(at_stack);
    }
    held.resize(paths.lines().len(), Held::default());
    let names = paths.by_name(labels.names());
    let keeps = shape.filter.keeps(&paths, &names);
    for (held, _) in held.iter_mut().zip(keeps).filter(|(_, keeps)| !keeps) {
        *held = Held::default();
    }
    // Filters ask whole stacks, so figures do not depend on what is shown of them.
    let (lines, held) = match shape.form.show_below_main {
        true => (paths.lines().to_vec(), held),
        false => {
            let (lines, numbers) = outside::cut(paths.lines(), &names);
            let held = moved(&held, &numbers, lines.len());
            (lines, held)
        }
    };
    let total = held.iter().copied().fold(Held::default(), Held::plus);
    let measure = shape.form.by().measure();
    let mut threshold = shape.threshold;
    let tree = loop {
        let least = Least {
            measure,
            amount: (total.by(measure) as f64 * threshold / 100.0).ceil() as u64,
        };
        let tree = match shape.direction {
            Direction::BottomUp => bottom_up(&lines, &held, least),
            Direction::TopDown => Some(top_down(&lines, &held, least)),
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
        measure,
        threshold,
    }
}

/// What lines hold, with the lines that are left of them.
pub(super) fn moved(held: &[Held], numbers: &[u32], count: usize) -> Vec<Held> {
    let mut sums = vec![Held::default(); count];
    for (&held, &number) in held.iter().zip(numbers) {
        sums[number as usize] = sums[number as usize].plus(held);
    }
    sums
}

/// What is counted, by stack.
pub(super) fn counted(analysis: &Analysis, when: When, by: By) -> Vec<(u32, Held)> {
    let tally = &analysis.tally;
    match by {
        By::Live => tally.held(when.moment()).collect(),
        By::Mapped => tally.held_mapped(when.moment()).collect(),
        By::Allocated | By::Count => tally.allocated().collect(),
        By::Temporary => tally.temporaries().collect(),
    }
}

fn bottom_up(lines: &[Line], held: &[Held], least: Least) -> Option<CallTree> {
    let ends = (0..).zip(held.iter().copied());
    let ends = ends.filter(|(_, held)| held.blocks > 0);
    CallTree::grow(ends.collect(), least, MOST_BRANCHES, |line| {
        step(lines, line)
    })
}

/// Lines are linked outwards, which is upwards here.
fn top_down(lines: &[Line], held: &[Held], least: Least) -> CallTree {
    let above = |callers| match callers {
        END => None,
        line => Some(line - 1),
    };
    let lines = lines.iter().zip(held).skip(1);
    let nodes = lines.map(|(line, &held)| (line.label, above(line.callers), held));
    CallTree::hang(&nodes.collect::<Vec<_>>(), least)
}
