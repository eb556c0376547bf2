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

use common::pairs;
use common::tools::{Folder, is_long, skip, tools};
use common::verdict::Totals;

/// A victim, its arguments, and by how many the first is multiplied in the
/// long runs.
struct Case {
    victim: &'static str,
    args: &'static [u64],
    long: u64,
    /// Images without a log of memlog's, at most, and their events.
    unlogged: fn(rounds: u64) -> (u64, usize),
}

const fn case(victim: &'static str, args: &'static [u64], long: u64) -> Case {
    Case {
        victim,
        args,
        long,
        unlogged: |_| (0, 0),
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
    case("vforker", &[10], 4),
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
        let family = pairs::run(&program, &args, &folder);
        let images = family.pairs.len();
        let rounds = case.args.first().copied().unwrap_or(1) * factor(case);
        let (most, events) = (case.unlogged)(rounds);
        if family.only_gold.len() as u64 > most {
            let count = family.only_gold.len();
            totals
                .problems
                .push(format!("{count} images without a log"));
        }
        totals.take(&family, |gold| gold.heap.len() <= events);
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
    totals.score("events equal to the second recorder's");
    let wanted = if is_long() { 5_000_000 } else { 1_200_000 };
    assert!(totals.events >= wanted, "only {} events", totals.events);
    assert!(totals.vforked > 0, "no child of vfork allocated");
    assert!(
        totals.inherited_releases > 0,
        "no child released what it inherited"
    );
    totals.assert_fine();
}

/// Who finds no difference may be blind. The fault shows when threads meet, so
/// there are some attempts.
#[test]
fn a_wrong_recorder_is_found_wrong() {
    let program = tools()
        .victim("realloc_race")
        .expect("a C compiler made it");
    let is_found = |_| {
        let folder = Folder::new("wrong");
        let mut command = pairs::command(&program, &folder, &tools().gold_wrong);
        let status = command.arg("3000").status().expect("the program starts");
        assert!(status.success(), "{status}");
        let mut totals = Totals::default();
        totals.take(&pairs::collect(&folder), |_| false);
        let mut problems = totals.problems.iter();
        problems.any(|problem| problem.contains(" event "))
    };
    assert!((0..20).any(is_found), "twenty runs without a difference");
}

fn factor(case: &Case) -> u64 {
    if is_long() { case.long } else { 1 }
}
