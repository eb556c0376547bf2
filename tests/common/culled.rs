//! What a log must have whose recorder left out blocks that lived shortly: with its sums all
//! that the second recorder has.

use std::collections::{BTreeMap, HashSet};

use memlog_format::meta::Key;
use memlog_format::passed::Passed;
use memlog_read::{Item, Kind};

use super::Event;
use super::compare::{START_UP, by_thread};
use super::logs::{Recorded, heap_event};
use super::pairs::{Family, Pair};

/// Blocks by thread, function and size.
type Kinds = BTreeMap<(u32, u8, u64), u64>;
/// Releases by thread.
type Releases = BTreeMap<u32, u64>;

/// What a log says in its sums.
fn passed(ours: &Recorded) -> Vec<Passed> {
    let log = ours.log();
    let events = log.events();
    let sums = events.filter_map(|item| match item.kind {
        Kind::Passed(passed) if passed.blocks > 0 => Some(passed),
        _ => None,
    });
    sums.collect()
}

/// What events and sums say together.
fn totals(events: &[Event], sums: &[Passed]) -> (Kinds, Releases) {
    let (mut came, mut went) = (Kinds::new(), Releases::new());
    for event in events {
        match event.is_release {
            true => *went.entry(event.tid).or_default() += 1,
            false => *came.entry((event.tid, event.api, event.size)).or_default() += 1,
        }
    }
    for sum in sums {
        let kind = (sum.tid, sum.api as u8, sum.size);
        *came.entry(kind).or_default() += sum.blocks;
        *went.entry(sum.releaser).or_default() += sum.blocks;
    }
    (came, went)
}

/// What is live behind some events, by address: size and thread.
fn live(events: impl IntoIterator<Item = Event>) -> BTreeMap<u64, (u64, u32)> {
    let mut live = BTreeMap::new();
    for event in events {
        match event.is_release {
            true => drop(live.remove(&event.address)),
            false => drop(live.insert(event.address, (event.size, event.tid))),
        }
    }
    live
}

/// What is wrong, and how much was compared.
#[derive(Default)]
pub struct Totals {
    images: u64,
    /// Processes, or images of one, that left blocks out.
    pub culled_images: u64,
    events: u64,
    /// Blocks that were left out.
    pub gone: u64,
    live: u64,
    inherited: u64,
    heirs: u64,
    problems: Vec<String>,
}

impl Totals {
    /// Takes in what a run left behind; what is wrong with it.
    pub fn take(&mut self, family: &Family, killed: bool) -> Vec<String> {
        self.problems.clone_from(&family.problems);
        for pair in &family.pairs {
            let before = self.problems.len();
            self.take_pair(pair, killed);
            self.compare_inheritance(pair, family);
            let name = pair.ours.name();
            for problem in &mut self.problems[before..] {
                problem.insert_str(0, &format!("{name}: "));
            }
        }
        std::mem::take(&mut self.problems)
    }

    fn take_pair(&mut self, pair: &Pair, killed: bool) {
        let sums = passed(&pair.ours);
        let gone: u64 = sums.iter().map(|sum| sum.blocks).sum();
        self.images += 1;
        self.culled_images += u64::from(gone > 0);
        self.gone += gone;
        self.events += pair.gold.heap.len() as u64;
        let in_flight = self.compare_threads(pair, killed);
        self.compare_totals(pair, &sums, killed);
        self.compare_live(&pair.ours.heap, &pair.gold.heap, &in_flight);
        self.check_log(&pair.ours, killed);
    }

    /// What is left of each thread is a part of what it did. Returns the addresses of
    /// the calls that it may have been inside.
    fn compare_threads(&mut self, pair: &Pair, killed: bool) -> HashSet<u64> {
        let mut in_flight = HashSet::new();
        let golds = by_thread(&pair.gold.heap);
        for (tid, ours) in by_thread(&pair.ours.heap) {
            let gold = golds.get(&tid).map_or(&[][..], Vec::as_slice);
            let mut rest = gold.iter();
            let is_there = |ours: &&Event| rest.any(|gold| ours.is_same(gold));
            let same = ours.iter().take_while(is_there).count();
            // Of the last call only one of the two may have come to tell.
            let slack = if killed { 2 } else { 0 };
            if same + slack < ours.len() {
                let at = ours[same];
                self.problems.push(format!(
                    "thread {tid}: event {same} of {} is not one of its {}: {at:?}",
                    ours.len(),
                    gold.len()
                ));
            }
        }
        if killed {
            let all = [by_thread(&pair.ours.heap), golds];
            for events in all.iter().flat_map(BTreeMap::values) {
                let last = events.iter().rev().take(2);
                in_flight.extend(last.map(|event| event.address));
            }
        }
        in_flight
    }

    fn compare_totals(&mut self, pair: &Pair, sums: &[Passed], killed: bool) {
        let (ours, gold) = (totals(&pair.ours.heap, sums), totals(&pair.gold.heap, &[]));
        let mut differ = 0;
        for kind in ours.0.keys().chain(gold.0.keys()).collect::<HashSet<_>>() {
            let count = |kinds: &Kinds| kinds.get(kind).copied().unwrap_or(0);
            differ += count(&ours.0).abs_diff(count(&gold.0));
        }
        for tid in ours.1.keys().chain(gold.1.keys()).collect::<HashSet<_>>() {
            let count = |releases: &Releases| releases.get(tid).copied().unwrap_or(0);
            differ += count(&ours.1).abs_diff(count(&gold.1));
        }
        let threads = gold.1.len() as u64 + 1;
        let slack = START_UP as u64 + if killed { 2 * threads } else { 0 };
        if differ > slack {
            self.problems
                .push(format!("{differ} calls differ in the sums"));
        }
    }

    fn compare_live(&mut self, ours: &[Event], gold: &[Event], in_flight: &HashSet<u64>) {
        let (ours, golds) = (live(ours.iter().copied()), live(gold.iter().copied()));
        self.live += golds.len() as u64;
        let first = gold.iter().take(START_UP).map(|event| event.address);
        let odd: HashSet<u64> = first.chain(in_flight.iter().copied()).collect();
        let all: HashSet<&u64> = ours.keys().chain(golds.keys()).collect();
        let differ = all
            .into_iter()
            .filter(|address| ours.get(address) != golds.get(address) && !odd.contains(address));
        let differ: Vec<_> = differ
            .map(|address| (address, ours.get(address), golds.get(address)))
            .collect();
        if let Some(first) = differ.first() {
            let count = differ.len();
            self.problems
                .push(format!("{count} blocks differ that are live: {first:x?}"));
        }
    }

    /// A forked child's log names places in its parent's: what was live there.
    fn compare_inheritance(&mut self, child: &Pair, family: &Family) {
        let Some((path, point)) = child.gold.parent.as_ref() else {
            return;
        };
        let Some(parent) = family.pairs.iter().find(|pair| pair.gold.path == *path) else {
            self.problems.push("its parent has no pair".into());
            return;
        };
        let (log, own) = (parent.ours.log(), child.ours.log());
        let events = log.events_until(own.fork_points());
        let ours = live(events.filter_map(|item: Item| heap_event(&item)));
        let before = |event: &&Event| event.mark < *point;
        let gold = parent.gold.heap.iter().filter(before).copied();
        let threads = by_thread(&parent.gold.heap).len();
        let gold = live(gold);
        let all: HashSet<&u64> = ours.keys().chain(gold.keys()).collect();
        let differ = all
            .into_iter()
            .filter(|address| ours.get(address) != gold.get(address));
        // The calls that other threads were inside, and start-up's few.
        let (differ, slack) = (differ.count(), 2 * threads.saturating_sub(1) + START_UP);
        self.heirs += 1;
        self.inherited += gold.len() as u64;
        if differ > slack {
            self.problems.push(format!(
                "{differ} of {} blocks that it inherited differ",
                gold.len()
            ));
        }
    }

    fn check_log(&mut self, ours: &Recorded, killed: bool) {
        self.problems.extend(ours.losses_and_findings(killed));
        if ours.findings.order_breaks > 0 || ours.findings.order_gaps > 0 && !killed {
            self.problems.push("contradictions in order".into());
        }
        if ours.log().text(Key::Culled).is_none() {
            self.problems
                .push("it does not say that it is culled".into());
        }
    }

    /// The figures.
    pub fn tell(&self, what: &str) {
        println!(
            "{what}: {} images, {} of which left blocks out, {} in all; {} events by gold; {} live \
             blocks compared; {} heirs of {} blocks",
            self.images,
            self.culled_images,
            self.gone,
            self.events,
            self.live,
            self.heirs,
            self.inherited,
        );
    }
}
