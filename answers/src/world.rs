//! A table with the names of its stacks, and its moments in time.

use std::sync::OnceLock;

use memlog_analysis::{Line, Name, PassedOver, step};
use memlog_table::Table;

use crate::sums::Sums;

/// The table's file has changed while it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

/// Where the peaks are: after so many events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moments {
    /// Of resident memory.
    pub rss_peak: u64,
    /// Of the heap.
    pub heap_peak: u64,
    /// What was resident at the first of them, in bytes; 0 where nobody knows.
    pub rss_peak_bytes: u64,
}

/// A stack, as lines of [`World::lines`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stack {
    /// From its innermost function out, inlined ones too.
    pub whole: u32,
    /// From the one that called the allocator.
    pub asker: u32,
    /// The function that it was for, as a label: see [`crate::name_owners`].
    pub owner: Option<u32>,
}

/// What the rows of a table are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Of {
    /// Blocks of the heap.
    #[default]
    Blocks,
    /// Parts of what the program mapped.
    Mappings,
}

/// What questions are asked of.
pub struct World<'t, 'b> {
    /// The blocks, or the mappings.
    pub table: &'t Table<'b>,
    /// Which of both.
    pub of: Of,
    /// The mappings, where it is of blocks.
    pub mappings: Option<&'t Table<'b>>,
    /// The program's own file.
    pub program: Option<String>,
    /// By the place of a stack in the table its number here: the recorder may have
    /// written one twice.
    pub numbers: Vec<u32>,
    /// The stacks by that number; none if no names were asked for.
    pub stacks: Vec<Stack>,
    /// The functions that owners were named past.
    pub passed_over: PassedOver,
    /// The functions of all stacks; a line's label is a place in [`World::names`].
    pub lines: Vec<Line>,
    /// What functions are called.
    pub names: Vec<Name>,
    /// The files whose code was there, by their paths.
    pub modules: Vec<String>,
    /// The threads as they are told, by their places.
    pub threads: Vec<String>,
    /// The tags of threads as they are told, by their places.
    pub scopes: Vec<String>,
    /// The peaks.
    pub moments: Moments,
    /// Nanoseconds of a tick.
    pub tick_ns: u64,
    /// Whether each event has a time of its own, up to the end.
    pub is_fine: bool,
    /// Of all blocks the sums of each stack, once they were asked for: nearly every
    /// question compares with them.
    pub sums: OnceLock<Vec<Sums>>,
}

impl<'t, 'b> World<'t, 'b> {
    /// A table whose stacks have no names.
    pub fn nameless(table: &'t Table<'b>, of: Of, moments: Moments, tick_ns: u64) -> Self {
        Self {
            table,
            of,
            mappings: None,
            program: None,
            numbers: Vec::new(),
            stacks: Vec::new(),
            passed_over: PassedOver::new(),
            lines: Vec::new(),
            names: Vec::new(),
            modules: Vec::new(),
            threads: Vec::new(),
            scopes: Vec::new(),
            moments,
            tick_ns,
            is_fine: tick_ns < 1000,
            sums: OnceLock::new(),
        }
    }

    /// How many different stacks there are.
    pub fn stack_count(&self) -> usize {
        self.numbers
            .iter()
            .max()
            .map_or(0, |&last| last as usize + 1)
    }

    /// By the number of a stack what filters call it: its numbers in the log.
    pub fn log_numbers(&self) -> Vec<Vec<u32>> {
        let mut all = vec![Vec::new(); self.stack_count()];
        for (&number, key) in self.numbers.iter().zip(self.table.stacks()) {
            all[number as usize].push(key.id.0);
        }
        all
    }

    /// By the number of a stack the most that its blocks ever held, and the event at which
    /// they first did. Where the recorder wrote it twice, that which held more tells.
    pub fn peaks(&self) -> Vec<(u64, u64)> {
        let mut peaks = vec![(0, 0); self.stack_count()];
        for (held, &stack) in self.table.held().iter().zip(&self.numbers) {
            let peak = &mut peaks[stack as usize];
            if held.most > peak.0 {
                *peak = (held.most, held.event);
            }
        }
        peaks
    }

    /// The number of a stack by its place in the table.
    #[inline]
    pub fn number(&self, place: u64) -> u32 {
        let number = self.numbers.get(place as usize);
        number.copied().unwrap_or(0)
    }

    /// What the function is called that a stack's memory was for.
    pub fn owner(&self, stack: u32) -> Option<&Name> {
        let owner = self.stacks.get(stack as usize)?.owner?;
        self.names.get(owner as usize)
    }

    /// The label of a line.
    pub fn label(&self, line: u32) -> Option<u32> {
        step(&self.lines, line).map(|(label, _)| label)
    }

    /// The functions of a line and of its callers.
    pub fn named(&self, line: u32) -> impl Iterator<Item = &Name> {
        let mut next = line;
        let labels = std::iter::from_fn(move || {
            let (label, callers) = step(&self.lines, next)?;
            next = callers;
            Some(label)
        });
        labels.filter_map(|label| self.names.get(label as usize))
    }

    /// By line how many frames it and its callers are.
    pub(crate) fn depths(&self) -> Vec<u64> {
        let mut depths: Vec<u64> = vec![0];
        for line in self.lines.iter().skip(1) {
            depths.push(depths[line.callers as usize] + 1);
        }
        depths
    }

    /// Frames of the deepest stack, functions that were inlined among them.
    pub fn deepest(&self) -> u64 {
        let depths = self.depths();
        let own = |whole: u32| depths.get(whole as usize).copied();
        let stacks = self.stacks.iter().filter_map(|stack| own(stack.whole));
        stacks.max().unwrap_or(0)
    }

    /// Whether each label's name answers so.
    pub(crate) fn labels_that(&self, fits: impl Fn(&Name) -> bool) -> Vec<bool> {
        self.names.iter().map(fits).collect()
    }

    /// The functions of such labels that are in a stack with blocks, from who called the
    /// allocator out, by name.
    pub(crate) fn labels_on_the_way(
        &self,
        sums: &[Sums],
        fits: impl Fn(u32) -> bool,
    ) -> Vec<String> {
        let mut is_met = vec![false; self.lines.len()];
        for (stack, sums) in self.stacks.iter().zip(sums) {
            if let Some(is_met) = is_met.get_mut(stack.asker as usize) {
                *is_met |= sums.blocks > 0;
            }
        }
        let mut names = Vec::new();
        for (line, own) in self.lines.iter().enumerate().skip(1).rev() {
            if is_met[line] {
                is_met[own.callers as usize] = true;
                let name = self.names.get(own.label as usize);
                names.extend(name.filter(|_| fits(own.label)).map(|name| &name.function));
            }
        }
        names.sort_unstable();
        names.dedup();
        names.into_iter().cloned().collect()
    }

    /// The last event of the log.
    pub fn end(&self) -> u64 {
        self.table.events()
    }

    /// Seconds since the start.
    pub fn seconds(&self, tick: u64) -> f64 {
        tick as f64 * self.tick_ns as f64 / 1e9
    }

    /// When an event was, in seconds since the start.
    pub fn seconds_of(&self, event: u64) -> f64 {
        self.seconds(self.table.steps().tick_of(event))
    }

    /// How long a block lived, in ticks; one that never went lived to the end.
    pub fn lifetime(&self, born: u64, died: u64) -> u64 {
        let steps = self.table.steps();
        let end = match died {
            memlog_table::NEVER => self.table.end_tick(),
            died => steps.tick_of(died),
        };
        end.saturating_sub(steps.tick_of(born))
    }

    /// A thread's name with its number.
    pub fn thread(&self, place: usize) -> String {
        let thread = self.threads.get(place);
        thread.map_or("?", String::as_str).to_owned()
    }

    /// The tag of a thread.
    pub fn scope(&self, place: usize) -> String {
        let scope = self.scopes.get(place);
        scope.map_or("?", String::as_str).to_owned()
    }
}

/// Bytes of a page, of which a damaged log may say anything.
pub(crate) fn sound_page_bytes(told: u64) -> u64 {
    match told {
        512..=0x4000_0000 => told,
        _ => 4096,
    }
}
