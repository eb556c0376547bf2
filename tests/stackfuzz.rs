//! Stacks of a program made to spoil whatever is kept of a stack
//! (`victims/stackfuzz*`), by random choices from a seed, compared three ways:
//!
//! * each capture with the plain walk, by the recorder itself (MEMLOG_VERIFY);
//! * some with libgcc's walk, whose hash is in the size of the block: the two
//!   share neither code nor caches nor a list of tables;
//! * and all are whole, but for those that cross code without tables, which
//!   say so by their size.

mod common;

use common::tools::{Folder, is_long, skip, tools};
use memlog_format::counter::{ALL, Counter};
use memlog_format::refusal::Refusal;
use memlog_format::table::StackId;
use memlog_read::{Kind, Log};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::process::{Command, Stdio};

/// As in `victims/stackfuzz.h`.
const EITHER_SIZE: u64 = 59_000;
const CUT_SIZE: u64 = 60_000;
const CROSSED_SIZE: u64 = 61_000;
const TOLD_SIZE: u64 = 80_000;
const LARGEST: u64 = TOLD_SIZE + 0x7fff;

/// What is known of a stack.
#[derive(Clone, Copy)]
struct Stack {
    root: Option<StackId>,
    hash: u64,
}

/// What the logs of the runs said.
#[derive(Default)]
struct LogFigures {
    verified: u64,
    told: u64,
    cut: u64,
    crossed: u64,
    problems: Vec<String>,
}

/// One run, with or without every capture verified; what it printed.
fn run(
    folder: &Folder,
    (seed, turns): (u64, u64),
    techniques: Option<&str>,
    verify: bool,
) -> String {
    let program = tools().victim("stackfuzz").expect("stackfuzz");
    let output = Command::new(program)
        .args([seed.to_string(), turns.to_string()])
        .args(techniques)
        .env("LD_PRELOAD", &tools().memlog)
        .env("MEMLOG_DIR", folder.path())
        .env("MEMLOG_VERIFY", if verify { "1" } else { "0" })
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .expect("it starts");
    assert!(output.status.success(), "seed {seed}: {}", output.status);
    String::from_utf8(output.stdout).expect("text")
}

/// The hash that libgcc's walk of this stack would have: of all frames but the
/// innermost, of which the two recorders see different calls.
fn known(log: &Log, id: StackId) -> Stack {
    let mut frames = log.frames(id);
    let mut hash = 0u64;
    for code in frames.by_ref().skip(1) {
        let word = code.address ^ u64::from(code.exact) << 63;
        hash = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        hash ^= hash >> 29;
    }
    Stack {
        root: frames.root(),
        hash: hash >> 49,
    }
}

impl LogFigures {
    fn take(&mut self, path: &Path, seed: u64) {
        let bytes = std::fs::read(path).expect("a log");
        let log = Log::open(&bytes).expect("a log");
        self.verified += log.counter(Counter::Verified);
        for &(counter, name) in ALL {
            let is_bad = counter.is_loss() || counter == Counter::VerifyDiffers;
            if is_bad && log.counter(counter) != 0 {
                let count = log.counter(counter);
                let why = Refusal::decode(log.counter(Counter::LogRefused));
                self.problems.push(format!(
                    "seed {seed}: {count} {name}, the log refused: {why:?}"
                ));
            }
        }
        let mut stacks = HashMap::new();
        let mut wrong: BTreeMap<String, u64> = BTreeMap::new();
        for item in log.events() {
            let Kind::Alloc(alloc) = item.kind else {
                continue;
            };
            let stack = *stacks
                .entry(alloc.stack)
                .or_insert_with(|| known(&log, alloc.stack));
            if let Some(what) = self.judge(alloc.size, stack) {
                *wrong.entry(what).or_default() += 1;
            }
        }
        let said = wrong
            .iter()
            .map(|(what, count)| format!("seed {seed}: {count} {what}"));
        self.problems.extend(said);
    }

    /// What is wrong with a stack of a block of this size.
    fn judge(&mut self, size: u64, stack: Stack) -> Option<String> {
        let wanted = match size {
            EITHER_SIZE => return None,
            CUT_SIZE => StackId::CUT_NO_TABLES,
            _ => StackId::COMPLETE,
        };
        self.cut += u64::from(size == CUT_SIZE);
        self.crossed += u64::from(size == CROSSED_SIZE);
        if stack.root != Some(wanted) {
            let root = stack
                .root
                .map_or("records missing", |root| root.root_name());
            return Some(format!("end in {root}, not {}", wanted.root_name()));
        }
        if !(TOLD_SIZE..=LARGEST).contains(&size) {
            return None;
        }
        self.told += 1;
        let is_same = size - TOLD_SIZE == stack.hash;
        (!is_same).then(|| "are not libgcc's".to_owned())
    }
}

fn fuzz(runs: u64, turns: u64, techniques: Option<&str>) -> LogFigures {
    let mut figures = LogFigures::default();
    for seed in 1..=runs {
        let folder = Folder::new("stackfuzz");
        let said = run(&folder, (seed, turns), techniques, true);
        let files = std::fs::read_dir(folder.path()).expect("the folder");
        for file in files.flatten() {
            figures.take(&file.path(), seed);
        }
        println!("seed {seed}: {}", said.trim_end());
    }
    println!(
        "SCORE made-up stacks right {}/{}: {} compared with libgcc's, {} cut",
        figures
            .verified
            .saturating_sub(figures.problems.len() as u64),
        figures.verified,
        figures.told,
        figures.cut
    );
    for problem in &figures.problems {
        println!("   {problem}");
    }
    figures
}

#[test]
fn no_stack_lies() {
    if tools().victim("stackfuzz").is_none() {
        return skip("stackfuzz: no compiler for it");
    }
    let (runs, turns) = if is_long() {
        (100, 100_000)
    } else {
        (12, 25_000)
    };
    let figures = fuzz(runs, turns, None);
    assert_eq!(figures.problems, [] as [String; 0]);
    assert!(figures.verified >= runs * turns * 3 / 4, "too few captures");
    assert!(figures.told >= runs * turns / 20, "too few of libgcc's");
    assert_eq!(figures.cut, 0, "cut without having been asked for");
}

/// Whether the fuzz knows the machine's instructions, or else why not.
fn writes_code() -> bool {
    let is_known = std::env::consts::ARCH == "x86_64";
    match tools().victim("stackfuzz") {
        None => skip("stackfuzz: no compiler for it"),
        Some(_) if !is_known => skip("stackfuzz: it writes code and steps on x86_64 only"),
        Some(_) => return true,
    }
    false
}

/// Code without tables is not guessed across.
#[test]
fn stacks_end_at_code_without_tables() {
    if !writes_code() {
        return;
    }
    let techniques = "untabled,alloca,framepointer,registers,rbp,sway,twice,raise,jump";
    let figures = fuzz(3, 5_000, Some(techniques));
    assert_eq!(figures.problems, [] as [String; 0]);
    assert!(figures.cut > 500, "only {} were cut", figures.cut);
}

/// Code without tables that keeps frame pointers is crossed by them, whatever
/// lies further in: also by the walk with all registers, which is asked for
/// what no packed rule can step from, and is the judge of the others.
#[test]
fn code_that_keeps_frame_pointers_is_crossed() {
    if !writes_code() {
        return;
    }
    let techniques = "framed,alloca,framepointer,registers,rbp,rbx,r12,realigned,sway,twice,raise";
    let figures = fuzz(3, 5_000, Some(techniques));
    assert_eq!(figures.problems, [] as [String; 0]);
    assert!(
        figures.crossed > 500,
        "only {} were crossed",
        figures.crossed
    );
}

/// A handler may come at any instruction, the recorder's own included, and at
/// a thread's first call: what it asks for is recorded.
#[test]
fn nothing_is_lost_at_any_instruction() {
    if !writes_code() {
        return;
    }
    let figures = fuzz(1, 40, Some("stepin"));
    assert_eq!(figures.problems, [] as [String; 0]);
    assert!(
        figures.verified > 1000,
        "only {} captures",
        figures.verified
    );
}

/// Frames that are left by another register, or by a word below fp, are stepped
/// at nearly the price of others: not by the full unwinder, under its lock.
#[test]
fn frames_of_other_registers_are_stepped_far() {
    if !writes_code() {
        return;
    }
    let techniques = "rbx,r12,realigned,registers,framepointer,alloca,raise";
    let folder = Folder::new("stackfuzz");
    run(&folder, (1, 20_000), Some(techniques), false);
    let mut files = std::fs::read_dir(folder.path())
        .expect("the folder")
        .flatten();
    let path = files.next().expect("a log").path();
    let bytes = std::fs::read(&path).expect("a log");
    let log = Log::open(&bytes).expect("a log");
    let allocations = log
        .events()
        .filter(|item| matches!(item.kind, Kind::Alloc(_)))
        .count();
    let full = log.counter(Counter::FullUnwinds);
    assert!(allocations > 10_000, "{allocations} allocations");
    // Where a signal came in the middle of a prologue only that will do.
    assert!(
        full < allocations as u64 / 50,
        "{full} full unwinds of {allocations}"
    );
    let mut figures = LogFigures::default();
    figures.take(&path, 1);
    assert_eq!(figures.problems, [] as [String; 0]);
}
