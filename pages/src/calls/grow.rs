//! The tree of a moment, grown from either end.

use std::rc::Rc;

use memlog_analysis::{CallTree, Held, Least, Measure};
use memlog_export::When;

use super::filter::Filter;
use super::form::Form;
use super::graph_file::graph;
use super::held::{Lines, counted, recorded};
use super::paths::{END, Line, step};
use super::times::times;
use crate::names::{Labels, Name};
use crate::open::{Analysis, Times};
use crate::page::tree::{Direction, MOST_BRANCHES};
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
    /// Whether a file for gprof2dot is made of each.
    pub has_graph: bool,
}

impl Shape<'_> {
    /// All there is of each stack, for programs.
    pub fn whole(self) -> Self {
        Self {
            form: self.form.whole(),
            ..self
        }
    }

    /// The file for gprof2dot of what ends at each line, if it is asked for.
    pub fn graph(&self, lines: &[Line], names: &[Name], held: &[Held]) -> Option<String> {
        let measure = self.form.by().measure();
        self.has_graph.then(|| graph(lines, names, held, measure))
    }
}

/// A tree, and what it is a part of.
pub struct Grown {
    pub tree: CallTree,
    /// What its labels are called.
    pub names: Rc<[Name]>,
    /// What there was, filtered or not.
    pub whole: Held,
    /// What the shares are of.
    pub measure: Measure,
    /// What holds less than so many percent is folded: what was asked for, or
    /// more, for a tree of all would be too large.
    pub threshold: f64,
    /// See [`Shape::graph`].
    pub graph: Option<String>,
    /// See [`times`].
    pub times: Vec<Times>,
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
    let form = &shape.form;
    let counted = counted(analysis, when, form.by());
    let sum = |list: &[(u32, Held)]| {
        let held = list.iter().map(|&(_, held)| held);
        held.fold(Held::default(), Held::plus)
    };
    let whole = match &analysis.chosen {
        Some(_) => sum(&recorded(analysis, when, form.by())),
        None => sum(&counted),
    };
    let stacks = counted.iter().map(|&(stack, _)| stack);
    let lines = Lines::of(stacks, shape.filter, form.show_below_main, labels);
    let held = lines.held(counted);
    let (tree, threshold) = grow_from(&lines.lines, &held, shape, MOST_BRANCHES);
    Grown {
        graph: shape.graph(&lines.lines, &lines.names, &held),
        times: times(&tree, &lines, &analysis.times),
        tree,
        names: lines.names.into(),
        whole,
        measure: form.by().measure(),
        threshold,
    }
}

/// Grows a tree from what ends at each line, and from which share on its branches are
/// there: what is asked for, or more, so that they are no more than `most`.
pub fn grow_from(lines: &[Line], held: &[Held], shape: &Shape, most: usize) -> (CallTree, f64) {
    let total = held.iter().copied().fold(Held::default(), Held::plus);
    let measure = shape.form.by().measure();
    let mut threshold = shape.threshold;
    loop {
        let least = Least {
            measure,
            amount: (total.by(measure) as f64 * threshold / 100.0).ceil() as u64,
        };
        let tree = match shape.direction {
            Direction::BottomUp => bottom_up(lines, held, least, most),
            Direction::TopDown => Some(top_down(lines, held, least)),
        };
        if let Some(tree) = tree {
            return (tree, threshold);
        }
        threshold = (2.0 * threshold).max(0.001);
    }
}

fn bottom_up(lines: &[Line], held: &[Held], least: Least, most: usize) -> Option<CallTree> {
    let ends = (0..).zip(held.iter().copied());
    let ends = ends.filter(|(_, held)| *held != Held::default());
    CallTree::grow(ends.collect(), least, most, |line| step(lines, line))
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
