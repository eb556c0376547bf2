//! Small programs that each do one thing that broke a recorder once
//! (`victims/torture`), with memlog and without.
//!
//! * `case`: what the head of a program's source says
//! * `run`: one run, and all that can be seen of it
//! * `judge`: what must be equal, and what its logs must say
//! * `sample`: some of them, others each time
//! * `switched`: those while recording goes on and off
//! * `culled`: those while short lives are left out
//!
//! `MEMLOG_TORTURE=NAME` runs one of them.

mod case;
#[path = "../common/mod.rs"]
mod common;
mod culled;
mod judge;
#[path = "../own_time/mod.rs"]
mod own_time;
mod run;
mod sample;
#[path = "../signals/mod.rs"]
mod signals;
mod switched;

use common::tools::{is_long, skip};
use common::verdict::Totals;
use std::time::Duration;

/// Programs of more allocations are compared in the long runs only.
const MOST_COMPARED: u64 = 200_000;

/// What all of them came to.
#[derive(Default)]
struct Board {
    ran: u32,
    behave: u32,
    hung: u32,
    compared: u32,
    skipped: u32,
    unsteady: u32,
    wrong: Vec<String>,
}

#[test]
fn programs_behave_as_without_memlog() {
    let only = std::env::var("MEMLOG_TORTURE").ok();
    let cases = case::all();
    let mut board = Board::default();
    let mut totals = Totals::default();
    for case in &cases {
        if only.as_ref().is_some_and(|only| *only != case.name) {
            continue;
        }
        let Some(program) = case.program() else {
            board.skipped += 1;
            skip(&format!("torture, {}: no compiler for it", case.name));
            continue;
        };
        let native = run::native(case, &program);
        if native.code == Some(77) {
            board.skipped += 1;
            let why = String::from_utf8_lossy(&native.out).trim_end().to_owned();
            skip(&format!("torture, {}: {why}", case.name));
            continue;
        }
        board.ran += 1;
        let mut wrong = judge::alone(&native);
        if wrong.is_empty() {
            wrong = one(case, &program, &native, &mut board, &mut totals);
            // What is wrong once in a while is told, and is no verdict on the
            // change at hand; in the long runs it is one.
            if !wrong.is_empty() && !is_long() {
                let again = (0..2).map(|_| one(case, &program, &native, &mut board, &mut totals));
                let again: Vec<Vec<String>> = again.collect();
                if again.iter().all(Vec::is_empty) {
                    let first = wrong.first().map_or("", String::as_str);
                    println!("UNSTEADY {}: wrong once of three times: {first}", case.name);
                    board.unsteady += 1;
                    wrong.clear();
                }
            }
        }
        board.behave += u32::from(wrong.is_empty());
        let verdict = if wrong.is_empty() {
            "as native"
        } else {
            "WRONG"
        };
        println!(
            "{:28} {:>7.3} s  {verdict}",
            case.name,
            native.took.as_secs_f64()
        );
        for line in &wrong {
            println!("    {line}");
        }
        let named = wrong
            .into_iter()
            .map(|line| format!("{}: {line}", case.name));
        board.wrong.extend(named);
    }
    println!(
        "SCORE programs that behave as native {}/{}: {} of them not always, {} hung, \
         {} compared event by event ({} events), {} skipped",
        board.behave,
        board.ran,
        board.unsteady,
        board.hung,
        board.compared,
        totals.events,
        board.skipped,
    );
    println!(
        "SCORE programs that end in time {}/{}",
        board.ran - board.hung.min(board.ran),
        board.ran
    );
    assert_eq!(board.wrong, [] as [String; 0]);
}

/// What is wrong with one of them.
fn one(
    case: &case::Case,
    program: &std::path::Path,
    native: &run::RunOutput,
    board: &mut Board,
    totals: &mut Totals,
) -> Vec<String> {
    let most = Duration::from_secs(5).max(native.took * 10);
    let (recorded, logs) = run::recorded(case, program, most);
    board.hung += u32::from(recorded.hung);
    let mut wrong = judge::same(native, &recorded);
    let (said, allocations) = judge::logs(case, logs.path());
    wrong.extend(said);
    let is_short = allocations <= MOST_COMPARED || is_long();
    if case.is_counted && is_short && wrong.is_empty() {
        let before = totals.problems.len();
        let (twice, family) = run::twice(case, program, most, &[]);
        board.hung += u32::from(twice.hung);
        wrong.extend(judge::same(native, &twice));
        totals.take(&family, |_| case.may_lack);
        wrong.extend(totals.problems.split_off(before));
        board.compared += 1;
    }
    wrong
}
