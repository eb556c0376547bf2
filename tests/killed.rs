//! SIGKILL at random moments: what a program had finished is in the log.
//!
//! The second recorder in the same process says what that is. Of each thread,
//! memlog must have every event up to the call that the thread was inside, and
//! nothing that the second recorder has not, but for that one call. The log
//! must be readable, and say no more than that a realloc was unfinished.
//!
//! 20 kills, or 200 with `MEMLOG_LONG=1`. `MEMLOG_SEED=N` repeats a run.

mod common;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use common::Event;
use common::compare::{by_thread, compare};
use common::gold::{self, Gold};
use common::pairs::{self, Pair};
use common::tools::{Folder, Random, is_long, tools};
use memlog_format::api::Api;
use memlog_read::Finding;

/// Each would go on for much longer than the moment it is killed at.
const VICTIMS: &[(&str, &[&str])] = &[
    ("churn", &["0"]),
    ("churn", &["0", "4"]),
    ("threads8", &["100000000"]),
    ("crossfree", &["100000000"]),
    ("realloc_race", &["100000000"]),
    ("forker", &["1000000"]),
];

/// No kill comes before as many events.
const AT_LEAST: u64 = 1000;

#[test]
fn what_was_finished_is_in_the_log() {
    // SAFETY: no memory is involved.
    let adopts = unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    assert_eq!(adopts, 0, "orphans become children of the test");
    let kills = if is_long() { 200 } else { 20 };
    let seed = match std::env::var("MEMLOG_SEED") {
        Ok(seed) => seed.parse().expect("MEMLOG_SEED is a number"),
        Err(_) => std::process::id().into(),
    };
    println!("MEMLOG_SEED={seed}");
    let mut random = Random::new(seed);
    let mut totals = Totals::default();
    for kill in 0..kills {
        let (victim, args) = VICTIMS[kill % VICTIMS.len()];
        let folder = Folder::new(victim);
        let spread = 1 << (9 + random.below(9));
        let moment = AT_LEAST + random.below(spread);
        run_and_kill(victim, args, moment, &folder);
        let before = totals.problems.len();
        totals.take(&folder);
        for problem in &mut totals.problems[before..] {
            problem.insert_str(0, &format!("kill {kill}, {victim} {args:?}: "));
        }
    }
    println!(
        "{kills} kills, {} processes: {} events finished and found; of events in flight {} in \
         both, {} only in gold, {} only in memlog; {} unfinished reallocs, {} blocks that one of \
         them had released came again; {} children killed before they had a log, with at most {} \
         events; {} logs made and not written",
        totals.images,
        totals.finished,
        totals.in_flight_both,
        totals.only_gold,
        totals.only_ours,
        totals.unfinished_reallocs,
        totals.live_twice,
        totals.unlogged,
        totals.unlogged_events,
        totals.unwritten,
    );
    let shown = &totals.problems[..totals.problems.len().min(40)];
    let count = totals.problems.len();
    assert!(
        count == 0,
        "{count} problems, MEMLOG_SEED={seed}:\n{}",
        shown.join("\n")
    );
}

/// Runs a victim and kills it, and its children, once it has made `moment`
/// events.
fn run_and_kill(victim: &str, args: &[&str], moment: u64, folder: &Folder) {
    let program = tools().victim(victim).expect("a C compiler made it");
    let mut command = pairs::command(&program, folder, &tools().gold);
    command.args(args).process_group(0).stdout(Stdio::null());
    let mut child: Child = command.spawn().expect("the victim starts");
    let gold: PathBuf = folder.path().join(format!("gold.{}", child.id()));
    let until = Instant::now() + Duration::from_secs(60);
    while gold::reserved(&gold).unwrap_or(0) < moment && Instant::now() < until {
        std::hint::spin_loop();
    }
    // SAFETY: no memory is involved; the group is the child's own, which has
    // not been waited for.
    unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
    child.wait().expect("the victim ends");
    let said = gold::reserved(&gold).unwrap_or(0);
    assert!(said >= moment, "{victim} made {said} events in a minute");
    wait_for_group(child.id());
}

/// Waits for the children of a victim that has ended: they have become ours.
fn wait_for_group(group: u32) {
    let mut status = 0;
    // SAFETY: the status is written where it may be.
    while unsafe { libc::waitpid(-(group as i32), &mut status, 0) } > 0 {}
}

#[derive(Default)]
struct Totals {
    images: u64,
    finished: u64,
    in_flight_both: u64,
    only_gold: u64,
    only_ours: u64,
    unfinished_reallocs: u64,
    live_twice: u64,
    unlogged: u64,
    unwritten: usize,
    unlogged_events: usize,
    problems: Vec<String>,
}

impl Totals {
    fn take(&mut self, folder: &Folder) {
        let family = pairs::collect(folder);
        self.problems.extend(family.problems);
        // Whether such a process had made events is asked of gold, below.
        self.unwritten += family.unwritten.len();
        if family.pairs.is_empty() {
            self.problems.push("no log".to_owned());
        }
        for pair in &family.pairs {
            self.images += 1;
            let said = self.take_pair(pair);
            let name = pair.ours.name();
            self.problems
                .extend(said.into_iter().map(|line| format!("{name}: {line}")));
        }
        for gold in &family.only_gold {
            self.take_unlogged(gold);
        }
        for log in &family.only_ours {
            if log.heap.len() > 1 {
                let (name, count) = (log.name(), log.heap.len());
                self.problems
                    .push(format!("{name}: {count} events that gold has not"));
            }
        }
    }

    /// A child's log is made when it has filled a first chunk, or ends.
    fn take_unlogged(&mut self, gold: &Gold) {
        self.unlogged += 1;
        self.unlogged_events = self.unlogged_events.max(gold.heap.len());
        // An image that is killed while it starts has made no event.
        if gold.heap.is_empty() {
            return;
        }
        if gold.parent.is_none() || gold.heap.len() as u64 >= AT_LEAST {
            let (name, count) = (gold.name(), gold.heap.len());
            self.problems
                .push(format!("{name}: no log, and {count} events"));
        }
    }

    fn take_pair(&mut self, pair: &Pair) -> Vec<String> {
        let mut said = Vec::new();
        let (mut ours, mut gold) = (by_thread(&pair.ours.heap), by_thread(&pair.gold.heap));
        let threads: BTreeSet<u32> = ours.keys().chain(gold.keys()).copied().collect();
        let mut finished = HashMap::new();
        for tid in threads {
            let ours = ours.remove(&tid).unwrap_or_default();
            let gold = gold.remove(&tid).unwrap_or_default();
            let (same, wrong) = self.take_thread(tid, &ours, &gold);
            said.extend(wrong);
            finished.insert(tid, same);
        }
        // Without what was in flight the order on each address is the same.
        let ours = first_of_each(&pair.ours.heap, finished.clone());
        let gold = first_of_each(&pair.gold.heap, finished);
        let odd = compare(&ours, &gold).odd;
        said.extend(odd.iter().take(10).map(|odd| odd.show()));
        self.live_twice += live_twice(&pair.ours.heap);
        for finding in pair.ours.findings.list() {
            match finding {
                Finding::UnfinishedRealloc { .. } => self.unfinished_reallocs += 1,
                other => said.push(other.to_string()),
            }
        }
        let findings = &pair.ours.findings;
        let threads = by_thread(&pair.gold.heap).len() as u64;
        if findings.order_gaps > threads || findings.order_breaks != 0 {
            let (gaps, breaks) = (findings.order_gaps, findings.order_breaks);
            said.push(format!(
                "{gaps} gaps and {breaks} contradictions in the order"
            ));
        }
        said
    }

    /// The one list must be the start of the other, but for the last call.
    /// Returns for how many events they are the same, and what is wrong.
    fn take_thread(&mut self, tid: u32, ours: &[Event], gold: &[Event]) -> (usize, Option<String>) {
        let same = ours
            .iter()
            .zip(gold)
            .take_while(|(o, g)| o.is_same(g))
            .count();
        let (extra, missing) = (&ours[same..], &gold[same..]);
        self.finished += same as u64;
        self.only_ours += extra.len() as u64;
        self.only_gold += missing.len() as u64;
        self.in_flight_both += u64::from(!extra.is_empty() && !missing.is_empty());
        let is_fine = match (extra, missing) {
            ([], missing) => is_one_call(missing),
            (extra, []) => is_one_call(extra),
            _ => false,
        };
        let show = |events: &[Event]| {
            let shown = events.iter().take(4).map(Event::show);
            shown.collect::<Vec<_>>().join(", ")
        };
        let wrong = (!is_fine).then(|| {
            format!(
                "thread {tid} after {same} events: {} only in memlog ({}), {} only in gold ({})",
                extra.len(),
                show(extra),
                missing.len(),
                show(missing)
            )
        });
        (same, wrong)
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
    events
        .iter()
        .filter(|event| is_wanted(event))
        .copied()
        .collect()
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
fn is_one_call(events: &[Event]) -> bool {
    match events {
        [] | [_] => true,
        [release, alloc] => {
            let is_realloc = |event: &Event| {
                event.api == Api::Realloc as u8 || event.api == Api::Reallocarray as u8
            };
            release.is_release && !alloc.is_release && is_realloc(release) && is_realloc(alloc)
        }
        _ => false,
    }
}
