//! Logs that end too early: a copy of a file that grew, a full disk.
//!
//! Whatever the length, each stream's events are the first of the whole log's,
//! those on one address in the same order, and what is missing is told.

use std::sync::atomic::{AtomicUsize, Ordering};

use memlog_read::Log;

use crate::common::tools::{Folder, Random, is_long, read_log};
use crate::material::{log_of, logs_of};
use crate::whole::{Reading, Rule, Whole};

/// What many lengths came to.
#[derive(Default)]
pub struct Board {
    pub tried: usize,
    pub refused: usize,
    pub problems: Vec<String>,
}

impl Board {
    fn add(&mut self, other: Board) {
        self.tried += other.tried;
        self.refused += other.refused;
        self.problems.extend(other.problems);
    }

    fn one(&mut self, whole: &Whole, length: usize) {
        self.tried += 1;
        match whole.judge(&whole.bytes[..length], Rule::Prefix) {
            Err(wrong) => self.problems.push(format!("cut at {length}: {wrong}")),
            // Without its first header it is no log.
            Ok(Err(_)) if length < 64 => self.refused += 1,
            Ok(Err(error)) => self.problems.push(format!("cut at {length}: {error}")),
            Ok(Ok(reading)) => self.told(length, &reading),
        }
    }

    fn told(&mut self, length: usize, reading: &Reading) {
        if reading.lacks && !reading.told {
            let items = reading.items;
            let problem = format!("cut at {length}: {items} items, and not a word");
            self.problems.push(problem);
        }
    }
}

/// Reads the log at all these lengths, on two threads.
pub fn at_lengths(whole: &Whole, lengths: &[usize]) -> Board {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut board = Board::default();
        while let Some(&length) = lengths.get(next.fetch_add(1, Ordering::Relaxed)) {
            board.one(whole, length);
        }
        board
    };
    let mut board = Board::default();
    std::thread::scope(|scope| {
        let workers = [scope.spawn(work), scope.spawn(work)];
        for worker in workers {
            board.add(worker.join().expect("no length makes the reader panic"));
        }
    });
    board
}

fn judged(what: &str, whole: &Whole, board: &Board) {
    let fine = board.tried - board.problems.len();
    println!(
        "SCORE truncations {fine}/{}: {what}, {} bytes, {} items in {} streams; {} lengths refused \
         with a reason",
        board.tried,
        whole.bytes.len(),
        whole.items,
        whole.streams(),
        board.refused
    );
    let shown = &board.problems[..board.problems.len().min(20)];
    assert!(shown.is_empty(), "{what}:\n{}", shown.join("\n"));
}

/// Lengths of a log: all, or in the short run some.
fn lengths(bytes: &[u8]) -> Vec<usize> {
    match is_long() {
        true => (0..=bytes.len()).collect(),
        // The first header by itself, then a prime's steps.
        false => (0..4096)
            .step_by(127)
            .chain((4096..=bytes.len()).step_by(8209))
            .collect(),
    }
}

/// Few chunks: modules that come and go, two threads, a forked child.
#[test]
fn small_logs_at_every_length() {
    let forked = {
        let folder = Folder::new("forked");
        let logs = logs_of("forker", &["1"], &folder);
        let is_forked = |bytes: &Vec<u8>| {
            Log::open(bytes).is_ok_and(|log| log.parent_pid().is_some() && log.end().is_some())
        };
        let bytes = logs.iter().map(|log| read_log(log).expect("a log"));
        bytes.into_iter().find(is_forked).expect("a child's log")
    };
    let cases = [
        ("dlopen_plugin", log_of("dlopen_plugin", &["6"])),
        ("a forked child", forked),
        ("two threads", log_of("churn", &["40", "2"])),
    ];
    for (name, bytes) in cases {
        let whole = Whole::read(&bytes);
        judged(name, &whole, &at_lengths(&whole, &lengths(&bytes)));
    }
}

/// Megabytes of several threads, and a header of several chunks: lengths by
/// chance.
#[test]
fn big_logs_at_many_lengths() {
    let mut random = Random::new(5);
    for (victim, args, long, short) in [
        ("crossfree", ["40000", ""], 10_000, 20),
        ("dlopen_plugin", ["400", ""], 2_000, 20),
    ] {
        let bytes = log_of(victim, &args);
        let whole = Whole::read(&bytes);
        let count = if is_long() { long } else { short };
        let length = |_| random.below(bytes.len() as u64 + 1) as usize;
        let lengths: Vec<usize> = (0..count).map(length).collect();
        judged(victim, &whole, &at_lengths(&whole, &lengths));
    }
}
