//! Logs that are read while their programs write them: what a follower knows in the end is
//! what a reading of the finished log finds, to the byte, whenever it looked.
//!
//! `MEMLOG_LONG=1` looks at more runs; `MEMLOG_SEED=N` begins with other moments;
//! `MEMLOG_ONLY=VICTIM` looks at that one only.

mod cli;
#[path = "../common/mod.rs"]
mod common;
mod moment;
mod tables;
mod terminal;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::tools::{Folder, Random, is_long, seed, skip, tools};
use memlog_format::chunk::{HEADER_SIZE, Header};
use memlog_format::counter::AREA_END;
use memlog_format::meta::Record;
use memlog_format::varint::Reader;
use memlog_pages::{Analysis, Files, Following, Watch};

/// No victim has more at a time.
const THREADS: i64 = 8;
/// A run that is longer than this is stuck.
const MOST: Duration = Duration::from_secs(120);

/// Of a stack by its addresses: live bytes and blocks, and all that it allocated.
type ByStack = BTreeMap<Vec<u64>, Row>;
type Row = [u64; 4];

/// What is to be equal.
#[derive(Debug, Default, PartialEq)]
struct Known {
    totals: Vec<u64>,
    temporary: i64,
    by_stack: ByStack,
    by_thread: BTreeMap<u32, [u64; 2]>,
}

fn known(tally: &memlog_analysis::Tally) -> Known {
    use memlog_analysis::Moment;
    let mut by_stack = ByStack::new();
    let addresses = |stack| {
        let frames = tally.stacks().frames(stack);
        frames.map(|frame| frame.site.address).collect::<Vec<_>>()
    };
    for (stack, held) in tally.held(Moment::End) {
        let row = by_stack.entry(addresses(stack)).or_default();
        row[0] += held.bytes;
        row[1] += held.blocks;
    }
    for (stack, total) in tally.allocated() {
        let row = by_stack.entry(addresses(stack)).or_default();
        row[2] += total.bytes;
        row[3] += total.blocks;
    }
    let totals = tally.totals();
    let live = tally.live();
    Known {
        totals: vec![
            totals.allocations,
            totals.releases,
            totals.bytes,
            totals.inherited_blocks,
            totals.inherited_released,
            live.bytes,
            live.blocks,
        ],
        temporary: totals.temporary as i64,
        by_stack,
        by_thread: tally
            .held_by_thread(Moment::End)
            .map(|(tid, held)| (tid, [held.bytes, held.blocks]))
            .collect(),
    }
}

/// The stacks with other figures, with both.
fn other_stacks(found: &ByStack, expected: &ByStack) -> Vec<(Vec<u64>, [Option<Row>; 2])> {
    let stacks: BTreeSet<_> = found.keys().chain(expected.keys()).collect();
    let both = |stack| [found, expected].map(|all| all.get(stack).copied());
    let all = stacks.into_iter().map(|stack| (stack.clone(), both(stack)));
    all.filter(|(_, [one, other])| one != other).collect()
}

fn whole(path: &Path) -> Analysis {
    let files = Files::load(path, &Watch::silent()).expect("a log");
    files
        .family()
        .expect("a log")
        .analyse(None, &Watch::silent())
}

/// Every log of a folder, from when it comes.
#[derive(Default)]
struct All {
    logs: BTreeMap<PathBuf, Following>,
    /// Looks that read something.
    looks: u64,
}

impl All {
    fn look(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            let is_log = path.extension().is_some_and(|name| name == "memlog");
            if is_log && !self.logs.contains_key(&path) {
                let Ok(following) = Following::open(&path) else {
                    continue;
                };
                self.logs.insert(path, following);
            }
        }
        // Nobody looks at what is over.
        for following in self.logs.values_mut().filter(|one| !one.is_over()) {
            let before = following.tally().events();
            let looked = following.look(&mut None, &mut |_, _| {});
            // A child that did nothing has removed its log, and none else is in the way.
            looked.unwrap_or_else(|error| panic!("{}: {error:#}", following.path().display()));
            self.looks += u64::from(following.tally().events() > before);
        }
    }

    fn are_over(&self) -> bool {
        self.logs.values().all(Following::is_over)
    }
}

/// A program that is recorded, and says nothing.
fn recorded(program: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .env("LD_PRELOAD", &tools().memlog);
    command
}

/// A program that runs no longer than its test, whatever comes of that.
struct Victim(Child);

impl Victim {
    #[track_caller]
    fn start(command: &mut Command) -> Self {
        Self(command.spawn().expect("it runs"))
    }

    #[track_caller]
    fn end(mut self) {
        let _ = self.0.kill();
        self.0.wait().expect("it ended");
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a program and looks at its logs at random moments; how often.
fn follow(
    program: &Path,
    args: &[&str],
    kill_after: Option<Duration>,
    settings: &[(&str, &str)],
    random: &mut Random,
) -> u64 {
    let folder = Folder::new("follow");
    let mut command = recorded(program, args);
    command.env("MEMLOG_DIR", folder.path());
    command.envs(settings.iter().copied());
    let mut victim = Victim::start(&mut command);
    let begun = Instant::now();
    let mut all = All::default();
    let most_us = [200, 3_000, 50_000][random.below(3) as usize];
    let mut is_done = false;
    while !is_done || !all.are_over() {
        let is_stuck = begun.elapsed() >= MOST;
        if is_stuck || kill_after.is_some_and(|after| begun.elapsed() >= after) {
            let _ = victim.0.kill();
        }
        assert!(!is_stuck, "{} is not over", program.display());
        is_done |= victim.0.try_wait().expect("a child").is_some();
        all.look(folder.path());
        std::thread::sleep(Duration::from_micros(random.below(most_us)));
    }
    assert!(!all.logs.is_empty(), "{} has no log", program.display());
    for (path, following) in &all.logs {
        let expected = whole(path);
        let (found, expected) = (known(following.tally()), known(&expected.tally));
        let what = format!("{} {args:?}: {}", program.display(), path.display());
        assert_eq!(following.seen().damages, 0, "{what}");
        assert_eq!(found.totals, expected.totals, "{what}");
        let temporary = [found.temporary, expected.temporary];
        // Of a realloc that another thread shows to have gone well the follower knows that
        // before the program is killed in it; a reader does not ask. A release that was under
        // way as recording went off lies before that or behind it, where its block is unknown.
        let ahead = match (kill_after, args.first()) {
            (_, Some(&"race")) => -THREADS..=THREADS,
            (Some(_), _) => 0..=THREADS,
            (None, _) => 0..=0,
        };
        assert!(
            ahead.contains(&(temporary[0] - temporary[1])),
            "{what}: {temporary:?}"
        );
        let twice =
            [following.tally(), &whole(path).tally].map(|tally| tally.anomalies().alive_twice);
        assert_eq!(twice[0], twice[1], "{what}");
        let others = other_stacks(&found.by_stack, &expected.by_stack);
        assert!(others.is_empty(), "{what}: {others:x?}");
        assert_eq!(found.by_thread, expected.by_thread, "{what}");
    }
    all.looks
}

fn is_wanted(victim: &str) -> bool {
    std::env::var("MEMLOG_ONLY").map_or(true, |only| only == victim)
}

/// A victim, its arguments, and after how many milliseconds at most it is killed.
type Case = (&'static str, &'static [&'static str], Option<u64>);

const CASES: [Case; 15] = [
    ("threads8", &["20000"], None),
    ("crossfree", &["60000"], None),
    ("realloc_race", &["10000"], None),
    ("forker", &["6"], None),
    ("churn", &["300000", "3"], None),
    ("many_threads", &["100", "50"], None),
    ("threads8", &["100000000"], Some(400)),
    ("crossfree", &["100000000"], Some(400)),
    ("realloc_race", &["100000000"], Some(400)),
    ("churn", &["100000000", "2"], Some(400)),
    ("execer", &[], None),
    ("late_free", &[], None),
    ("switches", &["windows", "20"], None),
    ("switches", &["race", "700"], None),
    ("switches", &["race", "100000"], Some(400)),
];

#[test]
fn a_follower_ends_where_a_reader_does() {
    let mut random = Random::new(seed());
    let rounds = if is_long() { 20 } else { 2 };
    for (name, args, most_ms) in CASES.into_iter().filter(|case| is_wanted(case.0)) {
        let Some(program) = tools().victim(name) else {
            skip(&format!("no compiler for {name}"));
            continue;
        };
        let mut looks = 0;
        for _ in 0..rounds {
            let after = most_ms.map(|ms| Duration::from_millis(50 + random.below(ms)));
            looks += follow(&program, args, after, &[], &mut random);
        }
        println!("{name} {args:?}: {looks} looks that found something");
        assert!(looks >= rounds, "{name}");
    }
}

const CULL: (&str, &str) = ("MEMLOG_CULL", "1ms");

/// Chunks move while they are read.
#[test]
fn a_follower_of_a_log_that_is_culled() {
    let mut random = Random::new(seed());
    let cases: [Case; 4] = [
        ("threads8", &["40000"], None),
        ("crossfree", &["60000"], None),
        ("churn", &["600000", "3"], None),
        ("churn", &["100000000", "2"], Some(400)),
    ];
    for (name, args, most_ms) in cases {
        let Some(program) = tools().victim(name) else {
            skip(&format!("no compiler for {name}"));
            continue;
        };
        let after = most_ms.map(|ms| Duration::from_millis(200 + random.below(ms)));
        let looks = follow(&program, args, after, &[CULL], &mut random);
        println!("{name} {args:?}: {looks} looks that found something");
    }
}

/// A reader finds each block that was allocated, whenever it looks: nothing was released that
/// nobody had, and no count goes back.
#[test]
fn a_reader_of_a_log_that_is_culled_finds_no_hole() {
    let Some(program) = tools().victim("churn") else {
        skip("no compiler for churn");
        return;
    };
    let all: &[_] = if is_long() { &["1", "3"] } else { &["3"] };
    for threads in all {
        reads_without_holes(&program, threads);
    }
}

fn reads_without_holes(program: &Path, threads: &str) {
    let folder = Folder::new("follow-culled");
    let log = folder.path().join("it.memlog");
    let mut command = recorded(program, &["100000000", threads]);
    command.env("MEMLOG_OUTPUT", &log).env(CULL.0, CULL.1);
    let victim = Victim::start(&mut command);
    cli::wait_for(&log);
    std::thread::sleep(Duration::from_millis(200));
    let rounds = if is_long() { 24 } else { 3 };
    let (mut before, mut culled) = (0, 0);
    for round in 0..rounds {
        let found = whole(&log);
        let (anomalies, totals) = (found.tally.anomalies(), found.tally.totals());
        assert_eq!(anomalies, &Default::default(), "round {round}: {totals:?}");
        assert!(totals.allocations >= before, "round {round}: {before}");
        before = totals.allocations;
        culled = totals.allocations.max(culled);
    }
    victim.end();
    assert!(culled > 100_000);
}

/// The first words of a log are written one after the other, and are copied into the file
/// while a reader may look: what is not said yet is not taken for another program.
#[test]
fn a_log_that_has_half_of_its_first_words_goes_on() {
    let folder = Folder::new("half");
    let [whole, half] = ["it.memlog", "half.memlog"].map(|name| folder.path().join(name));
    let mut command = recorded(Path::new("/bin/sleep"), &["60"]);
    let victim = Victim::start(command.env("MEMLOG_OUTPUT", &whole));
    let look = |following: &mut Following| following.look(&mut None, &mut |_, _| {});
    while !whole.exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut following = Following::open(&whole).expect("a log");
    while !look(&mut following).expect("a log") {}
    let bytes = fs::read(&whole).expect("a log");
    let header = Header::decode(&bytes).expect("a chunk").expect("a chunk");
    let mut words = Reader::new(&bytes[AREA_END..header.committed as usize]);
    let mut ends = vec![AREA_END];
    while let Ok(Some(_)) = Record::next(&mut words) {
        ends.push(AREA_END + words.at());
    }
    assert!(ends.len() > 8, "{ends:?}");
    // Either it says so, or the rest of it is on its way.
    for (end, says_so) in ends.into_iter().flat_map(|end| [(end, false), (end, true)]) {
        let what = format!("{end} of {}, {says_so}", header.committed);
        let mut first = bytes[..end].to_vec();
        first.resize(bytes.len(), 0);
        if says_so {
            let committed = end as u32;
            first[..HEADER_SIZE].copy_from_slice(
                &Header {
                    committed,
                    ..header
                }
                .encode(),
            );
        }
        fs::write(&half, first).expect("a file");
        let mut started = Following::open(&half).expect("a log");
        let begins = look(&mut started);
        assert!(matches!(begins, Ok(false)), "{what}: {begins:?}");
        assert!(!started.is_over(), "{what}: {}", started.life().word());
        // All of it comes.
        fs::write(&half, &bytes).expect("a file");
        assert!(look(&mut started).expect("a log"), "{what}");
        assert_eq!(started.life(), following.life(), "{what}");
        let allocations = |one: &Following| one.tally().totals().allocations;
        assert!(allocations(&started) >= allocations(&following), "{what}");
        assert_eq!(started.seen().damages, 0, "{what}");
    }
    victim.end();
    assert!(look(&mut following).expect("a log"));
}
