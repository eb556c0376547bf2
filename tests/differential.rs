//! memlog's logs against a second recorder in the same process, event by event.
//!
//! The second recorder (`tests/gold`) is preloaded below memlog and sees every
//! call that memlog passes on. For each address both must tell the same
//! sequence of allocations (entry point, size, usable size) and releases (entry
//! point), and for each thread as well. The first 64 events of a process may
//! differ, and the run says how many did.
//!
//! `MEMLOG_LONG=1` makes it five million events at least.

mod common;

use std::collections::BTreeMap;

use common::compare::{Comparison, START_UP, compare};
use common::gold::Gold;
use common::pairs::{Family, Pair};
use common::tools::{Folder, is_long, skip, tools};
use common::{inherit, pairs};
use memlog_format::table::StackId;

/// A victim, its arguments, and by how many the first is multiplied in the
/// long runs.
struct Case {
    victim: &'static str,
    args: &'static [u64],
    long: u64,
    /// Images without a log of memlog's, at most, and their events.
    unlogged: fn(rounds: u64) -> (u64, usize),
    /// Whether children of vfork allocate.
    vforks: bool,
}

const fn case(victim: &'static str, args: &'static [u64], long: u64) -> Case {
    Case {
        victim,
        args,
        long,
        unlogged: |_| (0, 0),
        vforks: false,
    }
}

const CASES: &[Case] = &[
    case("churn", &[150_000], 4),
    case("churn", &[30_000, 8], 4),
    case("threads8", &[8_000], 5),
    case("crossfree", &[20_000], 5),
    case("realloc_race", &[3_000], 5),
    Case {
        // Of each round one child execs and one is killed, as a rule before
        // their logs are made: see `child` in the recorder.
        unlogged: |rounds| (2 * rounds, 50),
        ..case("forker", &[6], 4)
    },
    case("execer", &[5], 1),
    Case {
        vforks: true,
        ..case("vforker", &[10], 4)
    },
    case("api", &[50], 20),
    case("dlopen_plugin", &[20], 5),
    case("signals", &[200], 5),
    case("siglongjmp", &[200], 5),
    case("throw", &[400], 5),
    case("coroutines", &[20_000, 8192], 5),
    case("qsort_cb", &[5_000], 5),
    case("deep", &[900], 1),
    case("only_new", &[], 1),
    case("sites", &[], 1),
    case("sites_cpp", &[], 1),
    case("sites_f90", &[], 1),
    case("sites_rs", &[], 1),
    case("rust_staticlib", &[], 1),
];

/// What all cases came to.
#[derive(Default)]
struct Totals {
    events: u64,
    mappings: u64,
    start_up: u64,
    unlogged: u64,
    vforked: u64,
    allocations: u64,
    roots: BTreeMap<Option<StackId>, u64>,
    inherited_releases: u64,
    problems: Vec<String>,
}

#[test]
fn both_recorders_tell_the_same() {
    let mut totals = Totals::default();
    for case in CASES {
        let Some(program) = tools().victim(case.victim) else {
            skip(&format!("{}: no compiler for it", case.victim));
            continue;
        };
        let scaled = case
            .args
            .iter()
            .enumerate()
            .map(|(index, arg)| match index {
                0 => (arg * factor(case)).to_string(),
                _ => arg.to_string(),
            });
        let scaled: Vec<String> = scaled.collect();
        let args: Vec<&str> = scaled.iter().map(String::as_str).collect();
        let folder = Folder::new(case.victim);
        let before = (totals.events, totals.problems.len());
        let mut family = pairs::run(&program, &args, &folder);
        let images = family.pairs.len();
        take_family(case, &mut family, &mut totals);
        for problem in &mut totals.problems[before.1..] {
            problem.insert_str(0, &format!("{} {args:?}: ", case.victim));
        }
        println!(
            "{:14} {:>9} events in {images} images, {} problems",
            case.victim,
            totals.events - before.0,
            totals.problems.len() - before.1,
        );
    }
    totals.tell();
    let wanted = if is_long() { 5_000_000 } else { 1_200_000 };
    assert!(totals.events >= wanted, "only {} events", totals.events);
    assert!(
        totals.inherited_releases > 0,
        "no child released what it inherited"
    );
    let shown = &totals.problems[..totals.problems.len().min(60)];
    let count = totals.problems.len();
    assert!(count == 0, "{count} problems:\n{}", shown.join("\n"));
}

fn factor(case: &Case) -> u64 {
    if is_long() { case.long } else { 1 }
}

fn take_family(case: &Case, family: &mut Family, totals: &mut Totals) {
    totals.problems.extend(family.problems.iter().cloned());
    for pair in &mut family.pairs {
        if case.vforks {
            totals.vforked += pair.gold.adopt_vforked(&pair.ours.heap);
        }
        take_pair(pair, totals);
    }
    let rounds = case.args.first().copied().unwrap_or(1) * factor(case);
    let (most, events) = (case.unlogged)(rounds);
    let unlogged = &family.only_gold;
    let is_known = |gold: &Gold| gold.parent.is_some() && gold.heap.len() <= events;
    if unlogged.len() as u64 > most || !unlogged.iter().all(is_known) {
        let names = unlogged
            .iter()
            .map(|gold| format!("{} with {} events", gold.name(), gold.heap.len()));
        let names: Vec<String> = names.collect();
        let problem = format!("{} images without a log: {names:?}", names.len());
        totals.problems.push(problem);
    }
    totals.unlogged += unlogged.len() as u64;
    for log in &family.only_ours {
        if !log.heap.is_empty() {
            let count = log.heap.len();
            let name = log.name();
            totals
                .problems
                .push(format!("{name}: {count} events that gold has not"));
        }
    }
    totals.inherited_releases += inherit::check(family, &mut totals.problems);
}

fn take_pair(pair: &Pair, totals: &mut Totals) {
    let name = pair.ours.name();
    let heap = compare(&pair.ours.heap, &pair.gold.heap);
    let mappings = compare(&pair.ours.mappings, &pair.gold.mappings);
    for (what, comparison) in [("heap", heap), ("mappings", mappings)] {
        let (late, early) = comparison.beyond_start_up();
        totals.start_up += early as u64;
        for odd in comparison.odd.iter().filter(|odd| odd.place < START_UP) {
            println!(
                "   at start-up, {}: {what}: {}",
                pair.ours.name(),
                odd.show()
            );
        }
        let shown = late.iter().take(8).map(|odd| odd.show());
        let odd = (late.len() > 8).then(|| format!("{} odd events in all", late.len()));
        // At start-up a thread's own sequence differs as well.
        let threads = match comparison {
            Comparison { threads, .. } if early == 0 => threads,
            _ => Vec::new(),
        };
        let said = shown.chain(odd).chain(threads);
        totals
            .problems
            .extend(said.map(|line| format!("{name}: {what}: {line}")));
    }
    let complaints = pair.ours.complaints();
    let said = complaints.iter().map(|line| format!("{name}: {line}"));
    totals.problems.extend(said);
    if pair.gold.unfinished != 0 {
        let count = pair.gold.unfinished;
        totals
            .problems
            .push(format!("{name}: gold has {count} unfinished slots"));
    }
    totals.events += pair.gold.heap.len() as u64;
    totals.mappings += pair.gold.mappings.len() as u64;
    for (root, count) in pair.ours.roots() {
        totals.allocations += count;
        *totals.roots.entry(root).or_default() += count;
    }
}

impl Totals {
    fn tell(&mut self) {
        println!(
            "{} events on blocks and {} on mappings; {} of them at start-up differ; \
             {} inherited blocks released by children; {} by children of vfork; {} children \
             that exec'd or were killed left no log",
            self.events,
            self.mappings,
            self.start_up,
            self.inherited_releases,
            self.vforked,
            self.unlogged
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
            self.problems
                .push(format!("{cut} of {} stacks are cut", self.allocations));
        }
        if let Some(lacking) = self.roots.get(&None) {
            self.problems.push(format!("{lacking} stacks lack records"));
        }
    }
}
