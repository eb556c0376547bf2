//! What stacks hold, by the lines that they are: counted, filtered, cut at main.

use std::collections::HashMap;

use memlog_analysis::{Held, without_outside};
use memlog_export::When;

use super::filter::Filter;
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
        By::Freed => chosen.freed.clone(),
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
        By::Freed => analysis.freed.clone(),
    }
}

/// Lines, and what their labels are called.
pub struct Lines {
    pub lines: Vec<Line>,
    pub names: Vec<Name>,
    /// Of each stack that counts where it ends.
    by_stack: HashMap<u32, u32>,
}

impl Lines {
    /// Those of such stacks. Filters ask whole stacks, so figures do not depend on what
    /// is shown of them.
    pub fn of(
        stacks: impl IntoIterator<Item = u32>,
        filter: &Filter,
        show_below_main: bool,
        labels: &mut Labels,
    ) -> Self {
        let mut paths = Paths::default();
        let stacks: Vec<u32> = stacks.into_iter().collect();
        labels.expect(stacks.iter().copied());
        let by_stack = stacks
            .into_iter()
            .map(|stack| (stack, paths.of(stack, labels)));
        let mut by_stack: HashMap<u32, u32> = by_stack.collect();
        let names = paths.by_name(labels.names());
        let keeps = filter.keeps(&paths, &names);
        by_stack.retain(|_, line| keeps.get(*line as usize).copied().unwrap_or(false));
        if show_below_main {
            let lines = paths.lines().to_vec();
            return Self {
                lines,
                names,
                by_stack,
            };
        }
        let (lines, numbers) = without_outside(paths.lines(), &names);
        for line in by_stack.values_mut() {
            *line = numbers[*line as usize];
        }
        Self {
            lines,
            names,
            by_stack,
        }
    }

    /// Where a stack ends; nothing if the filter keeps it out.
    pub fn end_of(&self, stack: u32) -> Option<u32> {
        self.by_stack.get(&stack).copied()
    }

    /// What ends at each line of what was counted by stack.
    pub fn held(&self, counted: impl IntoIterator<Item = (u32, Held)>) -> Vec<Held> {
        let mut sums = vec![Held::default(); self.lines.len()];
        for (stack, held) in counted {
            if let Some(line) = self.end_of(stack) {
                let sum = &mut sums[line as usize];
                *sum = sum.plus(held);
            }
        }
        sums
    }
}

/// Whether a filter lets one stack through.
pub fn keeps_stack(stack: u32, filter: &Filter, labels: &mut Labels) -> bool {
    filter.is_none()
        || Lines::of([stack], filter, true, labels)
            .end_of(stack)
            .is_some()
}
