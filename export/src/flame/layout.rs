//! Where each function stands on a picture: as a part of its width, and in
//! which row. What is too narrow to be seen is summed up beside its siblings.

use memlog_analysis::{CallTree, Callers, Held, Least, Measure};

use super::{Flame, Label, View};

/// As many branches as a picture of any width can show.
const MOST_BRANCHES: usize = 1_000_000;

/// A function on the picture.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Frame {
    /// What it is; none of the row that stands for everything.
    pub label: Option<Label>,
    /// Where it begins and ends, 0 to 1.
    pub left: f64,
    pub right: f64,
    /// How many stand between it and everything.
    pub row: usize,
    pub held: Held,
    /// What its caller holds.
    pub of: Held,
    /// The frame of its caller; of everything itself.
    pub caller: usize,
}

/// Of the metric that is shown first. Who holds less than `least`, a share of
/// everything, is not seen.
pub(super) fn layout(flame: &Flame, view: View, least: f64) -> Vec<Frame> {
    let Some((metric, series)) = flame.widths() else {
        return Vec::new();
    };
    let total = series.total();
    let mut amount = (total.by(metric.measure) as f64 * least).ceil().max(1.0) as u64;
    let tree = loop {
        let least = Least {
            measure: metric.measure,
            amount,
        };
        let tree = match view.is_reversed {
            true => reversed(flame, &series.own, least),
            false => Some(from_callers(flame, &series.own, least)),
        };
        match tree {
            Some(tree) => break tree,
            None => amount = amount.saturating_mul(2),
        }
    };
    placed(&tree, metric.measure)
}

const UNNAMED: u32 = u32::MAX;

fn number(label: Label) -> u32 {
    match label {
        Label::Named(name) => name,
        Label::Lesser(_) => UNNAMED,
    }
}

fn from_callers(flame: &Flame, own: &[Held], least: Least) -> CallTree {
    let nodes = flame.nodes.iter().zip(own);
    let nodes = nodes.map(|(node, &held)| (number(node.label), node.caller, held));
    CallTree::hang(&nodes.collect::<Vec<_>>(), least)
}

fn reversed(flame: &Flame, own: &[Held], least: Least) -> Option<CallTree> {
    let ends = (0u32..).zip(own.iter().copied());
    let ends = ends.filter(|(_, held)| held.blocks > 0);
    let ends = ends.map(|(at, held)| (Some(at), held)).collect();
    CallTree::grow(ends, least, MOST_BRANCHES, |at: Option<u32>| {
        let node = flame.nodes.get(at? as usize)?;
        Some((number(node.label), node.caller))
    })
}

/// Row by row and from left to right, who holds most first.
fn placed(tree: &CallTree, measure: Measure) -> Vec<Frame> {
    let total = tree.total();
    let whole = total.by(measure) as f64;
    let mut frames = vec![Frame {
        label: None,
        left: 0.0,
        right: 1.0,
        row: 0,
        held: total,
        of: total,
        caller: 0,
    }];
    // Who calls at each frame, by the frame's index.
    let mut callers: Vec<Option<&Callers>> = vec![Some(tree.roots())];
    let mut at = 0;
    while at < frames.len() {
        let caller = frames[at].clone();
        let below = callers[at].take().filter(|_| whole > 0.0);
        let below = below.map(|here| groups(tree, here)).unwrap_or_default();
        // Sums are of whole numbers: the last ends where its caller does.
        let mut sum = 0u64;
        for (label, held, its) in below {
            let place = |sum: u64| caller.left + sum as f64 / whole;
            let left = place(sum);
            sum = sum.saturating_add(held.by(measure));
            frames.push(Frame {
                label: Some(label),
                left,
                right: place(sum),
                row: caller.row + 1,
                held,
                of: caller.held,
                caller: at,
            });
            callers.push(its);
        }
        at += 1;
    }
    frames
}

/// A frame that has no place yet, and who is below it.
type Group<'t> = (Label, Held, Option<&'t Callers>);

fn groups<'t>(tree: &'t CallTree, here: &'t Callers) -> Vec<Group<'t>> {
    let shown = here.shown.iter().filter_map(|&index| tree.get(index));
    let shown = shown.map(|branch| {
        let label = match branch.label {
            UNNAMED => Label::Lesser(0),
            name => Label::Named(name),
        };
        (label, branch.held, Some(&branch.callers))
    });
    let lesser = (Label::Lesser(here.lesser), here.lesser_held, None);
    let lesser = (here.lesser > 0).then_some(lesser);
    shown.chain(lesser).collect()
}
