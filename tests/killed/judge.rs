//! What killed processes left, against what the second recorder saw of them.

use std::collections::{BTreeSet, HashMap, HashSet};

use memlog_format::api::Api;
use memlog_read::Finding;

use crate::common::Event;
use crate::common::compare::{by_thread, compare};
use crate::common::gold::Gold;
use crate::common::pairs::{self, Pair};
use crate::common::tools::Folder;

/// A child that has made as many has a log, however early it dies: it gets one
/// with its first kilobyte of events (`child` in the recorder).
const FIRST_OF_A_CHILD: usize = 1000;

/// What all kills came to.
#[derive(Default)]
pub struct Totals {
    /// Processes, or images of one, with a log.
    pub images: u64,
    /// Events of the second recorder that are in the logs.
    pub finished: u64,
    /// Events that were finished and are not.
    pub missing: u64,
    /// Events that nobody made.
    pub extra: u64,
    only_gold: u64,
    only_ours: u64,
    unfinished_reallocs: u64,
    amid_chunks: u64,
    live_twice: u64,
    unlogged: u64,
    unlogged_events: usize,
    unwritten: usize,
    /// What is wrong, in sentences.
    pub problems: Vec<String>,
}

impl Totals {
    /// Takes in what a run left behind.
    pub fn take(&mut self, folder: &Folder) {
        let family = pairs::collect(folder);
        self.problems.extend(family.problems);
        // Whether such a process had made events is asked of gold, below.
        self.unwritten += family.unwritten.len();
        for pair in &family.pairs {
            self.images += 1;
            let said = self.take_pair(pair);
            let name = pair.ours.name();
            let said = said.into_iter().map(|line| format!("{name}: {line}"));
            self.problems.extend(said);
        }
        for gold in &family.only_gold {
            self.take_unlogged(gold);
        }
        for log in &family.only_ours {
            if log.heap.len() > 1 {
                let (name, count) = (log.name(), log.heap.len());
                self.extra += count as u64;
                let problem = format!("{name}: {count} events that gold has not");
                self.problems.push(problem);
            }
        }
    }

    /// A child's log is made when it has filled a first chunk, or ends.
    fn take_unlogged(&mut self, gold: &Gold) {
        // An image that is killed while it starts has made no event.
        if gold.heap.is_empty() {
            return;
        }
        self.unlogged += 1;
        self.unlogged_events = self.unlogged_events.max(gold.heap.len());
        if gold.parent.is_none() || gold.heap.len() >= FIRST_OF_A_CHILD {
            let (name, count) = (gold.name(), gold.heap.len());
            self.missing += count as u64;
            let problem = format!("{name}: no log, and {count} events");
            self.problems.push(problem);
        }
    }

    fn take_pair(&mut self, pair: &Pair) -> Vec<String> {
        let (heap, finished) = self.take_threads("", &pair.ours.heap, &pair.gold.heap);
        let (mappings, _) =
            self.take_threads("mappings of ", &pair.ours.mappings, &pair.gold.mappings);
        let mut said = [heap, mappings].concat();
        // Without what was in flight the order on each address is the same.
        let ours = first_of_each(&pair.ours.heap, finished.clone());
        let gold = first_of_each(&pair.gold.heap, finished);
        let odd = compare(&ours, &gold).odd;
        said.extend(odd.iter().take(10).map(|odd| odd.show()));
        self.live_twice += live_twice(&pair.ours.heap);
        let findings = Findings::of(pair);
        self.unfinished_reallocs += findings.unfinished_reallocs;
        self.amid_chunks += findings.amid_chunks;
        said.extend(findings.wrong);
        said
    }

    /// Each thread's events, and how many of them are the same.
    fn take_threads(
        &mut self,
        what: &str,
        ours: &[Event],
        gold: &[Event],
    ) -> (Vec<String>, HashMap<u32, usize>) {
        let (mut ours, mut gold) = (by_thread(ours), by_thread(gold));
        let threads: BTreeSet<u32> = ours.keys().chain(gold.keys()).copied().collect();
        let (mut said, mut finished) = (Vec::new(), HashMap::new());
        for tid in threads {
            let ours = ours.remove(&tid).unwrap_or_default();
            let gold = gold.remove(&tid).unwrap_or_default();
            let (same, wrong) = self.take_thread(&ours, &gold);
            said.extend(wrong.map(|wrong| format!("{what}thread {tid} {wrong}")));
            finished.insert(tid, same);
        }
        (said, finished)
    }

    /// The one list must be the start of the other, but for the last call.
    /// Returns for how many events they are the same, and what is wrong.
    fn take_thread(&mut self, ours: &[Event], gold: &[Event]) -> (usize, Option<String>) {
        let both = ours.iter().zip(gold);
        let same = both.take_while(|(o, g)| o.is_same(g)).count();
        let (extra, missing) = (&ours[same..], &gold[same..]);
        self.finished += same as u64;
        let is_fine = match (extra, missing) {
            ([], missing) => is_one_call(missing),
            (extra, []) => is_one_call(extra),
            _ => false,
        };
        if is_fine {
            self.only_ours += extra.len() as u64;
            self.only_gold += missing.len() as u64;
            return (same, None);
        }
        self.missing += missing.len() as u64;
        self.extra += extra.len() as u64;
        let show = |events: &[Event]| {
            let shown = events.iter().take(4).map(Event::show);
            shown.collect::<Vec<_>>().join(", ")
        };
        let wrong = format!(
            "after {same} events: {} only in memlog ({}), {} only in gold ({})",
            extra.len(),
            show(extra),
            missing.len(),
            show(missing)
        );
        (same, Some(wrong))
    }

    /// The figures.
    pub fn tell(&self) {
        println!(
            "{} processes: {} events finished and found; of events in flight {} only in gold, \
             {} only in memlog; {} unfinished reallocs, {} deaths between two chunks, {} blocks that one of them had released \
             came again; {} children killed before they had a log, with at most {} events; {} \
             logs made and not written",
            self.images,
            self.finished,
            self.only_gold,
            self.only_ours,
            self.unfinished_reallocs,
            self.amid_chunks,
            self.live_twice,
            self.unlogged,
            self.unlogged_events,
            self.unwritten,
        );
    }
}

/// What is said of a log by itself.
#[derive(Default)]
pub struct Findings {
    unfinished_reallocs: u64,
    amid_chunks: u64,
    /// What no kill explains.
    pub wrong: Vec<String>,
}

impl Findings {
    pub fn of(pair: &Pair) -> Self {
        let mut all = Self::default();
        let findings = &pair.ours.findings;
        for finding in findings.list() {
            match finding {
                Finding::UnfinishedRealloc { .. } => all.unfinished_reallocs += 1,
                // A chunk is in flight as an event is: whether one is missing
                // is seen by what gold has.
                Finding::NextMissing { .. } | Finding::StreamsMissing { .. } => {
                    all.amid_chunks += 1;
                }
                other => all.wrong.push(other.to_string()),
            }
        }
        let threads = by_thread(&pair.gold.heap).len() as u64;
        let (gaps, breaks) = (findings.order_gaps, findings.order_breaks);
        if gaps > threads || breaks != 0 {
            let problem = format!("{gaps} gaps and {breaks} contradictions in the order");
            all.wrong.push(problem);
        }
        if let Some(lacking) = pair.ours.roots().get(&None) {
            let problem = format!("the stacks of {lacking} events lack records");
            all.wrong.push(problem);
        }
        all
    }
}

/// The first events of each thread, as many as `left` says.
fn first_of_each(events: &[Event], mut left: HashMap<u32, usize>) -> Vec<Event> {
    let mut is_wanted = |event: &&Event| {
        left.get_mut(&event.tid).is_some_and(|left| {
            let is_wanted = *left > 0;
            *left = left.saturating_sub(1);
            is_wanted
        })
    };
    let wanted = events.iter().filter(|event| is_wanted(event));
    wanted.copied().collect()
}

/// How often an address came that had not gone. A realloc that was unfinished
/// counts as not done, though its old block may have gone to another thread.
fn live_twice(events: &[Event]) -> u64 {
    let mut live = HashSet::new();
    let came_twice = events.iter().filter(|event| match event.is_release {
        true => {
            live.remove(&event.address);
            false
        }
        false => !live.insert(event.address),
    });
    came_twice.count() as u64
}

/// Whether one call of the program makes these events.
pub fn is_one_call(events: &[Event]) -> bool {
    match events {
        [] | [_] => true,
        [release, alloc] => {
            let moves = [Api::Realloc, Api::Reallocarray, Api::Mremap].map(|api| api as u8);
            let is_move = |event: &Event| moves.contains(&event.api);
            release.is_release && !alloc.is_release && is_move(release) && is_move(alloc)
        }
        _ => false,
    }
}
