//! What holds too little by every metric is summed up under its caller, so that
//! the size of a page has a bound.

use memlog_analysis::Held;

use super::{Flame, Label, Node, Series};

/// What a place has to hold, or it is only summed up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Least {
    /// So many percent by one metric at least.
    pub percent: f64,
    /// More, if there would be more than so many places.
    pub most_nodes: usize,
}

/// What was left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Omitted {
    /// So many places.
    pub places: u64,
    /// Each holds less than so many percent by every metric.
    pub percent: f64,
}

impl Flame {
    /// The same without what is less, and without what holds nothing. Callees
    /// stand right behind their caller, and among each other by name.
    pub(super) fn without_lesser(&self, least: Option<Least>) -> (Self, Omitted) {
        let totals = self.series.iter().map(|series| series.totals(&self.nodes));
        let totals: Vec<Vec<Held>> = totals.collect();
        let mut percent = least.map_or(0.0, |least| least.percent);
        let most = least.map_or(usize::MAX, |least| least.most_nodes);
        let kept = loop {
            let kept = self.kept(&totals, percent);
            if kept.iter().filter(|kept| **kept).count() <= most || percent >= 100.0 {
                break kept;
            }
            percent = (2.0 * percent).max(0.001);
        };
        let is_held = |index: usize| totals.iter().any(|all| all[index].blocks > 0);
        let left_out = (0..self.nodes.len()).filter(|&index| !kept[index] && is_held(index));
        let omitted = Omitted {
            places: left_out.count() as u64,
            percent,
        };
        (self.of_kept(&totals, &kept), omitted)
    }

    fn kept(&self, totals: &[Vec<Held>], percent: f64) -> Vec<bool> {
        let mut kept = vec![false; self.nodes.len()];
        if percent <= 0.0 {
            for all in totals {
                let held = all.iter().map(|held| held.blocks > 0);
                kept.iter_mut().zip(held).for_each(|(kept, is)| *kept |= is);
            }
            return kept;
        }
        for metric in &self.metrics {
            let Some(series) = self.series.get(metric.series) else {
                continue;
            };
            let total = series.total().by(metric.measure) as f64;
            let least = (total * percent / 100.0).ceil().max(1.0) as u64;
            let held = totals[metric.series].iter();
            let is_enough = held.map(|held| held.by(metric.measure) >= least);
            kept.iter_mut()
                .zip(is_enough)
                .for_each(|(kept, is)| *kept |= is);
        }
        kept
    }

    /// The tree of what is kept, the rest below it summed up.
    fn of_kept(&self, totals: &[Vec<Held>], kept: &[bool]) -> Self {
        let mut callees: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len() + 1];
        let place = |caller: Option<u32>| caller.map_or(self.nodes.len(), |at| at as usize);
        for (index, node) in (0..).zip(&self.nodes) {
            let is_below_kept = node.caller.is_none_or(|caller| kept[caller as usize]);
            if is_below_kept && totals.iter().any(|all| all[index as usize].blocks > 0) {
                callees[place(node.caller)].push(index);
            }
        }
        let mut flame = self.bare();
        // What is to be entered: the old index, and the new one of its caller.
        let mut work: Vec<(u32, Option<u32>)> = Vec::new();
        let mut enter = |flame: &mut Self, old: Option<u32>, new, work: &mut Vec<_>| {
            let mut below = std::mem::take(&mut callees[place(old)]);
            let mut small: Vec<u32> = Vec::new();
            below.retain(|&index| match kept[index as usize] {
                true => true,
                false => {
                    small.push(index);
                    false
                }
            });
            below.sort_by_key(|&index| self.nodes[index as usize].label);
            work.extend(below.iter().rev().map(|&index| (index, new)));
            if !small.is_empty() {
                flame.push_lesser(new, &small, totals);
            }
        };
        enter(&mut flame, None, None, &mut work);
        while let Some((old, caller)) = work.pop() {
            let node = self.nodes[old as usize];
            let new = flame.nodes.len() as u32;
            flame.nodes.push(Node { caller, ..node });
            for (series, whole) in flame.series.iter_mut().zip(&self.series) {
                let own = whole.own.get(old as usize).copied();
                series.own.push(own.unwrap_or_default());
            }
            enter(&mut flame, Some(old), Some(new), &mut work);
        }
        flame
    }

    fn push_lesser(&mut self, caller: Option<u32>, small: &[u32], totals: &[Vec<Held>]) {
        self.nodes.push(Node {
            label: Label::Lesser(small.len() as u64),
            caller,
        });
        for (series, totals) in self.series.iter_mut().zip(totals) {
            let held = small.iter().map(|&index| totals[index as usize]);
            series.own.push(held.fold(Held::default(), Held::plus));
        }
    }

    /// All but the tree.
    fn bare(&self) -> Self {
        let series = self.series.iter().map(|series| Series {
            own: Vec::new(),
            ..*series
        });
        Self {
            nodes: Vec::new(),
            series: series.collect(),
            heading: self.heading.clone(),
            notes: self.notes.clone(),
            names: self.names.clone(),
            metrics: self.metrics.clone(),
            shown: self.shown,
            other: self.other,
            lacks_counts: self.lacks_counts,
            scoped: Vec::new(),
        }
    }
}
