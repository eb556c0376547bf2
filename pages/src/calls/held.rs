//! What stacks hold, by the lines that they are: counted, filtered, cut at main.

use memlog_analysis::Held;
use memlog_export::When;

use super::filter::Filter;
use super::outside;
use super::paths::{Line, Paths};
use crate::names::{Labels, Name};
use crate::open::Analysis;
use crate::page::tree::By;

/// What is counted, by stack: of the blocks that a filter chooses, if there is one. It
/// says nothing of what the program mapped itself.
pub fn counted(analysis: &Analysis, when: When, by: By) -> Vec<(u32, Held)> {
    let Some(chosen) = &analysis.chosen else {
        return recorded(analysis, when, by);
    };
    match by {
        By::Live => {
            let mut live = chosen.live.iter();
            let live = live.find(|(moment, _)| *moment == when.moment());
            live.map_or_else(Vec::new, |(_, held)| held.clone())
        }
        By::Mapped => Vec::new(),
        By::Allocated | By::Count => chosen.allocated.clone(),
        By::Temporary => chosen.temporary.clone(),
    }
}

/// The same of all blocks.
pub fn recorded(analysis: &Analysis, when: When, by: By) -> Vec<(u32, Held)> {
    let tally = &analysis.tally;
    match by {
        By::Live => tally.held(when.moment()).collect(),
        By::Mapped => tally.held_mapped(when.moment()).collect(),
        By::Allocated | By::Count => tally.allocated().collect(),
        By::Temporary => tally.temporaries().collect(),
    }
}

/// Lines, what their labels are called, and what ends at each.
pub struct Lines {
    pub lines: Vec<Line>,
    pub names: Vec<Name>,
    /// Of each that was counted, by line.
    pub held: Vec<Vec<Held>>,
}

impl Lines {
    /// Of what was counted once or more. Filters ask whole stacks, so figures do not
    /// depend on what is shown of them.
    pub fn of(
        counts: impl IntoIterator<Item = Vec<(u32, Held)>>,
        filter: &Filter,
        show_below_main: bool,
        labels: &mut Labels,
    ) -> Self {
        let mut paths = Paths::default();
        let counts = counts.into_iter();
        let counts = counts.map(|counted| by_line(counted, &mut paths, labels));
        let mut counts: Vec<Vec<Held>> = counts.collect();
        let names = paths.by_name(labels.names());
        let keeps = filter.keeps(&paths, &names);
        for held in &mut counts {
            held.resize(paths.lines().len(), Held::default());
            for (held, _) in held.iter_mut().zip(&keeps).filter(|(_, keeps)| !**keeps) {
                *held = Held::default();
            }
        }
        if show_below_main {
            let lines = paths.lines().to_vec();
            let held = counts;
            return Self { lines, names, held };
        }
        let (lines, numbers) = outside::cut(paths.lines(), &names);
        let counts = counts.iter();
        let held = counts.map(|held| moved(held, &numbers, lines.len()));
        Self {
            held: held.collect(),
            lines,
            names,
        }
    }
}

/// Up to the last line that is known by then.
fn by_line(counted: Vec<(u32, Held)>, paths: &mut Paths, labels: &mut Labels) -> Vec<Held> {
    let mut lines: Vec<Held> = Vec::new();
    for (stack, held) in counted {
        let line = paths.of(stack, labels) as usize;
        lines.resize(lines.len().max(line + 1), Held::default());
        lines[line] = lines[line].plus(held);
    }
    lines
}

/// What lines hold, with the lines that are left of them.
pub fn moved(held: &[Held], numbers: &[u32], count: usize) -> Vec<Held> {
    let mut sums = vec![Held::default(); count];
    for (&held, &number) in held.iter().zip(numbers) {
        sums[number as usize] = sums[number as usize].plus(held);
    }
    sums
}
