//! The recorder's own system calls fail, one after the other, and the program
//! does not notice.
//!
//! A program is traced, and the Nth call that comes out of libmemlog.so is
//! refused with an error of every kind, for N from the first to beyond the
//! last. The program must end as without memlog, with the same output; its log
//! must be readable, hold the program's own events in their order, and count
//! what is not there. Only where no log could be made at all there is none, and
//! a line on stderr says so.
//!
//! `MEMLOG_LONG=1` fails each call with each error; else each with one of them.

#[path = "../common/mod.rs"]
mod common;
mod sys;

use common::logs::Recorded;
use common::tools::{Folder, is_long, skip, tools};
use memlog_format::counter::ALL;
use memlog_read::Log;
use std::path::Path;
use sys::{Fault, Outcome};

const ERRORS: [(i32, &str); 8] = [
    (libc::ENOSPC, "ENOSPC"),
    (libc::EIO, "EIO"),
    (libc::EINTR, "EINTR"),
    (libc::EAGAIN, "EAGAIN"),
    (libc::ENOMEM, "ENOMEM"),
    (libc::EMFILE, "EMFILE"),
    (libc::EPERM, "EPERM"),
    (libc::EFBIG, "EFBIG"),
];

/// What all runs came to.
#[derive(Default)]
struct Board {
    injected: u64,
    lossless: u64,
    without_log: u64,
    wrong: Vec<String>,
}

/// An event as every run of the program has it: addresses differ.
type Shape = (u8, u64, bool);

fn run(program: &Path, fault: Option<Fault>) -> (Outcome, Folder) {
    let folder = Folder::new("faults");
    let outcome = sys::run(
        program,
        &["20000"],
        &tools().memlog,
        folder.path(),
        &[],
        fault,
    );
    (outcome, folder)
}

/// The log of a run, if there is one.
fn log_of(folder: &Folder) -> Result<Option<Recorded>, String> {
    let mut files = std::fs::read_dir(folder.path())
        .expect("the folder")
        .flatten();
    match files.next() {
        Some(file) => Recorded::read(&file.path()).map(Some),
        None => Ok(None),
    }
}

fn shapes(log: &Recorded) -> Vec<Shape> {
    let shape = |event: &common::Event| (event.api, event.size, event.is_release);
    log.heap.iter().map(shape).collect()
}

/// How many of `all` are not in `some`, which is `all` with gaps; or where it
/// is not.
fn missing(all: &[Shape], some: &[Shape]) -> Result<usize, String> {
    let mut rest = all.iter();
    for (place, event) in some.iter().enumerate() {
        if !rest.any(|other| other == event) {
            return Err(format!(
                "event {place} of {} is not the program's: {event:?}",
                some.len()
            ));
        }
    }
    Ok(all.len() - some.len())
}

/// Events that the log's counters say are lost.
fn counted_losses(log: &Recorded) -> u64 {
    let log = Log::open(&log.bytes).expect("it was read");
    let losses = ALL.iter().filter(|(counter, _)| counter.is_loss());
    losses.map(|&(counter, _)| log.counter(counter)).sum()
}

impl Board {
    fn judge(&mut self, clean: &[Shape], outcome: &Outcome, folder: &Folder) -> Result<(), String> {
        if outcome.status != 0 {
            return Err(format!("status {:#x}", outcome.status));
        }
        let log = log_of(folder)?;
        let Some(log) = log else {
            self.without_log += 1;
            return match outcome.errors.starts_with("memlog: ")
                && outcome.errors.lines().count() == 1
            {
                true => Ok(()),
                false => Err(format!("no log, and on stderr: {:?}", outcome.errors)),
            };
        };
        if !outcome.errors.is_empty() {
            return Err(format!("on stderr: {:?}", outcome.errors));
        }
        let missing = missing(clean, &shapes(&log))? as u64;
        self.lossless += u64::from(missing == 0);
        match (missing, counted_losses(&log)) {
            (missing, counted) if missing <= counted => Ok(()),
            (missing, counted) => Err(format!("{missing} events missing, {counted} counted")),
        }
    }
}

#[test]
fn a_program_does_not_notice_that_calls_fail() {
    if !sys::may_trace() {
        return skip("faults: ptrace is refused, or this machine's registers are not known");
    }
    let program = tools().victim("churn").expect("a C compiler made it");
    let (outcome, folder) = run(&program, None);
    assert_eq!((outcome.status, outcome.errors.as_str()), (0, ""));
    let clean = log_of(&folder)
        .expect("a log that can be read")
        .expect("a log");
    assert_eq!(clean.announced_losses, 0);
    let clean = shapes(&clean);
    println!(
        "{} calls of the recorder, {} events",
        outcome.calls,
        clean.len()
    );
    let mut board = Board::default();
    let rounds = if is_long() { ERRORS.len() } else { 1 };
    for round in 0..rounds {
        let mut beyond = 0;
        for call in 1.. {
            let (error, name) = ERRORS[(call as usize + round) % ERRORS.len()];
            let (outcome, folder) = run(&program, Some(Fault { call, error }));
            let Some(number) = outcome.failed else {
                // By time some calls are made seldom.
                beyond += 1;
                if beyond == 8 {
                    break;
                }
                continue;
            };
            board.injected += 1;
            if let Err(wrong) = board.judge(&clean, &outcome, &folder) {
                board
                    .wrong
                    .push(format!("call {call} (number {number}) {name}: {wrong}"));
            }
        }
    }
    println!(
        "SCORE faults survived {}/{}: {} logs whole, {} runs without one, which stderr says",
        board.injected - board.wrong.len() as u64,
        board.injected,
        board.lossless,
        board.without_log,
    );
    for wrong in board.wrong.iter().take(40) {
        println!("    {wrong}");
    }
    assert!(
        board.injected >= outcome.calls / 2,
        "only {} faults",
        board.injected
    );
    assert!(
        board.wrong.is_empty(),
        "{} faults were noticed",
        board.wrong.len()
    );
}

/// A log that may not grow costs a lost event no system call: what is left is by
/// time.
#[test]
fn lost_events_cost_no_calls() {
    if !sys::may_trace() {
        return skip("lost events: ptrace is refused, or this machine's registers are not known");
    }
    let program = tools().victim("churn").expect("a C compiler made it");
    let calls = |steps: &str| {
        let folder = Folder::new("lost");
        let settings = [("MEMLOG_MAX_LOG", "256K")];
        let library = &tools().memlog;
        let outcome = sys::run(&program, &[steps], library, folder.path(), &settings, None);
        assert_eq!(outcome.status, 0);
        let log = log_of(&folder).expect("it can be read").expect("a log");
        (outcome.calls, counted_losses(&log))
    };
    let ((few, lost_few), (many, lost_many)) = (calls("50000"), calls("550000"));
    let lost = lost_many - lost_few;
    println!(
        "{lost} events lost, {} calls for that",
        many.saturating_sub(few)
    );
    assert!(lost > 500_000, "only {lost} lost");
    assert!(
        many.saturating_sub(few) < lost / 100,
        "{few} calls, then {many}"
    );
}

/// What could not grow for want of a descriptor grows once there is one: the
/// last events are there, and those between are counted.
#[test]
fn growth_is_tried_again() {
    const EACH: usize = 400_000;
    let program = tools().victim("scarce").expect("a C compiler made it");
    let folder = Folder::new("scarce");
    let status = std::process::Command::new(program)
        .arg(EACH.to_string())
        .env("LD_PRELOAD", &tools().memlog)
        .env("MEMLOG_DIR", folder.path())
        // Each chunk needs a descriptor there.
        .env("MEMLOG_SINK", "written")
        .stdout(std::process::Stdio::null())
        .status();
    assert!(status.expect("it runs").success());
    let log = log_of(&folder).expect("it can be read").expect("a log");
    let count = |size: u64| {
        let asked = log.heap.iter().filter(|event| event.size == size);
        asked.count()
    };
    let (before, after) = (count(48), count(80));
    assert_eq!(after, EACH, "of those that came last");
    // The chunk that was full then could not be written.
    const CHUNK: usize = 30_000;
    assert!(
        (EACH - CHUNK..2 * EACH).contains(&before),
        "{before} before"
    );
    let missing = 2 * (2 * EACH - before) as u64;
    let counted = counted_losses(&log);
    assert!(
        (missing..missing + 1000).contains(&counted),
        "{missing} events missing, {counted} counted"
    );
}
