//! What a run must be for the two recorders to agree, summed over many runs.

use std::collections::BTreeMap;

use memlog_format::table::StackId;

use super::compare::{Comparison, START_UP, compare};
use super::inherit;
use super::pairs::{Family, Pair};

/// What all runs came to.
#[derive(Default)]
pub struct Totals {
    /// Events on blocks that the second recorder saw.
    pub events: u64,
    /// Events on mappings that it saw.
    pub mappings: u64,
    /// Events among the first of a process in which the two differ.
    pub start_up: u64,
    /// Events of children of vfork, under their parents' numbers.
    pub vforked: u64,
    /// Forked children that exec'd or were killed before they had a log.
    pub unlogged: u64,
    /// What those did: as many events at most.
    pub unlogged_events: usize,
    /// Allocations.
    pub allocations: u64,
    /// How many of their stacks ended in each root.
    pub roots: BTreeMap<Option<StackId>, u64>,
    /// Blocks released by children that had inherited them.
    pub inherited_releases: u64,
    /// What is wrong, in sentences.
    pub problems: Vec<String>,
}

impl Totals {
    /// Takes in what a run left behind. Of the forked children, `may_lack` says
    /// which may have no log.
    pub fn take(&mut self, family: &Family, may_lack: impl Fn(&super::gold::Gold) -> bool) {
        self.problems.extend(family.problems.iter().cloned());
        let unwritten = family.unwritten.iter();
        let said = unwritten.map(|path| format!("{}: nothing was written", path.display()));
        self.problems.extend(said);
        self.vforked += family.vforked;
        for pair in &family.pairs {
            self.take_pair(pair);
        }
        for gold in &family.only_gold {
            self.unlogged += 1;
            self.unlogged_events = self.unlogged_events.max(gold.heap.len());
            if gold.parent.is_none() || !may_lack(gold) {
                let (name, count) = (gold.name(), gold.heap.len());
                self.problems
                    .push(format!("{name}: {count} events, and no log"));
            }
        }
        for log in &family.only_ours {
            if !log.heap.is_empty() {
                let (name, count) = (log.name(), log.heap.len());
                let problem = format!("{name}: {count} events that gold has not");
                self.problems.push(problem);
            }
        }
        self.inherited_releases += inherit::check(family, &mut self.problems);
    }

    fn take_pair(&mut self, pair: &Pair) {
        let name = pair.ours.name();
        let heap = compare(&pair.ours.heap, &pair.gold.heap);
        let mappings = compare(&pair.ours.mappings, &pair.gold.mappings);
        for (what, comparison) in [("heap", heap), ("mappings", mappings)] {
            let said = self.judge(&comparison);
            let said = said
                .into_iter()
                .map(|line| format!("{name}: {what}: {line}"));
            self.problems.extend(said);
        }
        let complaints = pair.ours.complaints();
        let said = complaints.iter().map(|line| format!("{name}: {line}"));
        self.problems.extend(said);
        if pair.gold.unfinished != 0 {
            let count = pair.gold.unfinished;
            self.problems
                .push(format!("{name}: gold has {count} unfinished slots"));
        }
        self.events += pair.gold.heap.len() as u64;
        self.mappings += pair.gold.mappings.len() as u64;
        for (root, count) in pair.ours.roots() {
            self.allocations += count;
            *self.roots.entry(root).or_default() += count;
        }
    }

    fn judge(&mut self, comparison: &Comparison) -> Vec<String> {
        let (late, early) = comparison.beyond_start_up();
        self.start_up += early as u64;
        for odd in comparison.odd.iter().filter(|odd| odd.place < START_UP) {
            println!("   at start-up: {}", odd.show());
        }
        let mut said: Vec<String> = late.iter().take(8).map(|odd| odd.show()).collect();
        if late.len() > said.len() {
            said.push(format!("{} odd events in all", late.len()));
        }
        // What differs at start-up differs in a thread's own sequence as well.
        if early == 0 {
            said.extend(comparison.threads.iter().cloned());
        }
        said
    }

    /// Prints the figures, and makes too many cut stacks a problem.
    pub fn tell(&mut self) {
        println!(
            "{} events on blocks and {} on mappings; {} of them at start-up differ; {} inherited blocks \
             released by children; {} events of children of vfork; {} children that exec'd or were killed left no log, \
             with at most {} events",
            self.events,
            self.mappings,
            self.start_up,
            self.inherited_releases,
            self.vforked,
            self.unlogged,
            self.unlogged_events,
        );
        let mut cut = 0;
        for (root, count) in &self.roots {
            let name = root.map_or("records missing", |root| root.root_name());
            println!("{count:>9} stacks end: {name}");
            if *root != Some(StackId::COMPLETE) {
                cut += count;
            }
        }
        if cut * 1000 > self.allocations {
            let problem = format!("{cut} of {} stacks are cut", self.allocations);
            self.problems.push(problem);
        }
        if let Some(lacking) = self.roots.get(&None) {
            self.problems.push(format!("{lacking} stacks lack records"));
        }
    }

    /// The line for the scoreboard: a problem is an event or more.
    pub fn score(&self, what: &str) {
        let events = self.events + self.mappings;
        let wrong = self.problems.len() as u64;
        println!("SCORE {what} {}/{events}", events.saturating_sub(wrong));
    }

    /// Fails if anything was wrong.
    pub fn assert_fine(&self) {
        let shown = &self.problems[..self.problems.len().min(60)];
        let count = self.problems.len();
        assert!(count == 0, "{count} problems:\n{}", shown.join("\n"));
    }
}
