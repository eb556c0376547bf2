//! Long recursion in a tree: branches one below the other, each the only one
//! below its parent, whose functions repeat themselves. One line says what
//! thousands would say.
//!
//! ```text
//! ->99.00% (990B, 9x): parse [parse.c:12]
//!   ->99.00% (990B, 9x): 14,980 more of parse [parse.c:12], levels 4 to 14,983
//! ```
//!
//! What ends within a run, or is too small to be shown there, is summed up and
//! stands below that line.

use std::collections::{HashMap, HashSet};

use memlog_analysis::{CallTree, Held};

use crate::names::Name;
use crate::page::tree::own;

/// A recursion of fewer levels is shown as it is.
const LEAST_LEVELS: usize = 20;
/// How many levels are shown before the rest becomes a line.
const SHOWN: usize = 3;
/// No more functions than these take turns in a run.
const MAX_PERIOD: usize = 8;

/// Branches that are shown as one line.
pub struct Run {
    /// The innermost of them.
    pub last: u32,
    /// How many levels of the tree they are.
    pub levels: usize,
    /// How many functions take turns.
    pub period: usize,
    /// The function, if it is one.
    pub name: Option<Name>,
    /// Held in stacks that reach the first of them.
    pub held: Held,
    /// What ends in them.
    pub own: Held,
    /// What is too small to be shown below them: how much, and what it holds.
    pub folded: (u64, Held),
}

/// The runs of a tree, by their first branch.
pub struct Runs(HashMap<u32, Run>);

impl Runs {
    /// Finds all of them.
    pub fn find(tree: &CallTree, names: &[Name]) -> Self {
        let functions = functions(names);
        let function = |branch: u32| {
            let label = tree.get(branch).map(|branch| branch.label);
            label
                .and_then(|label| functions.get(label as usize))
                .copied()
        };
        let mut runs = HashMap::new();
        for head in heads(tree) {
            let chain = chain(tree, head);
            let calls: Vec<_> = chain.iter().map(|&branch| function(branch)).collect();
            for (from, to, period) in repeats(&calls) {
                let run = Run::of(tree, names, &chain[from..to], period);
                runs.insert(chain[from], run);
            }
        }
        Self(runs)
    }

    /// The run that begins with a branch.
    pub fn from(&self, branch: u32) -> Option<&Run> {
        self.0.get(&branch)
    }
}

impl Run {
    fn of(tree: &CallTree, names: &[Name], chain: &[u32], period: usize) -> Self {
        let mut run = Self {
            last: chain.last().copied().unwrap_or_default(),
            levels: chain.len(),
            period,
            name: (period == 1).then(|| name_of(tree, names, chain)).flatten(),
            held: Held::default(),
            own: Held::default(),
            folded: (0, Held::default()),
        };
        for branch in chain.iter().filter_map(|&branch| tree.get(branch)).rev() {
            run.held = branch.held;
            run.own = run.own.plus(own(tree, branch));
            run.folded.0 += branch.callers.lesser;
            run.folded.1 = run.folded.1.plus(branch.callers.lesser_held);
        }
        run
    }
}

/// One function may call itself from several lines.
fn name_of(tree: &CallTree, names: &[Name], chain: &[u32]) -> Option<Name> {
    let labels = chain.iter().filter_map(|&branch| tree.get(branch));
    let labels: HashSet<u32> = labels.map(|branch| branch.label).collect();
    let first = tree.get(*chain.first()?)?.label;
    let mut name = names.get(first as usize)?.clone();
    if let (Some(location), 2..) = (&mut name.location, labels.len()) {
        let others = labels.len() - 1;
        let lines = if others == 1 { "line" } else { "lines" };
        location.push_str(&format!(" and {others} other {lines}"));
    }
    Some(name)
}

/// Of each label the number of its function.
fn functions(names: &[Name]) -> Vec<usize> {
    let mut numbers = HashMap::new();
    let number = |name: &Name| {
        let next = numbers.len();
        let function = (name.function.clone(), name.module.clone());
        *numbers.entry(function).or_insert(next)
    };
    names.iter().map(number).collect()
}

/// Where chains begin: the branches that are not the only one below another.
fn heads(tree: &CallTree) -> Vec<u32> {
    let mut heads = tree.roots().shown.clone();
    let branches = (0..tree.branches()).filter_map(|branch| tree.get(branch));
    let forks = branches.filter(|branch| branch.callers.shown.len() > 1);
    heads.extend(forks.flat_map(|branch| &branch.callers.shown));
    heads
}

/// A branch, what alone is below it, what alone is below that, and so on.
fn chain(tree: &CallTree, head: u32) -> Vec<u32> {
    let below = |&branch: &u32| match tree.get(branch)?.callers.shown[..] {
        [only] => Some(only),
        _ => None,
    };
    std::iter::successors(Some(head), below).collect()
}

/// What repeats itself, from, to and with which period, without the levels that
/// are shown before.
fn repeats<T: PartialEq>(calls: &[T]) -> Vec<(usize, usize, usize)> {
    // By period: from each place on, how many are as those a period later.
    let alike = |period: usize| {
        let mut counts = vec![0; calls.len() + 1];
        for at in (0..calls.len().saturating_sub(period)).rev() {
            if calls[at] == calls[at + period] {
                counts[at] = counts[at + 1] + 1;
            }
        }
        counts
    };
    let periods: Vec<_> = (1..=MAX_PERIOD)
        .map(|period| (period, alike(period)))
        .collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at + LEAST_LEVELS <= calls.len() {
        let run = periods
            .iter()
            .find(|(period, counts)| counts[at] + period >= LEAST_LEVELS);
        match run {
            Some((period, counts)) => {
                let end = at + counts[at] + period;
                found.push((at + SHOWN.max(*period), end, *period));
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(calls: &str) -> Vec<(usize, usize, usize)> {
        repeats(calls.as_bytes())
    }

    #[test]
    fn what_repeats_itself_is_found() {
        let of = |text: &str, times| text.repeat(times);
        assert_eq!(found("abcabc"), []);
        assert_eq!(found(&of("a", 19)), []);
        assert_eq!(found(&of("a", 20)), [(3, 20, 1)]);
        assert_eq!(found(&(of("x", 2) + &of("abcd", 30) + "y")), [(6, 122, 4)]);
        let two = of("a", 40) + &of("bc", 20);
        assert_eq!(found(&two), [(3, 40, 1), (43, 80, 2)]);
        assert_eq!(found(&of("abcdefghi", 30)), []);
    }
}
