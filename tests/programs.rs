//! Programs that people run, under both recorders: every event equal, nothing
//! lost, at most one stack in a thousand cut, and a sample of the stacks equal
//! to libunwind's. It takes minutes, so only `MEMLOG_LONG=1` runs it.

mod common;
#[path = "programs/list.rs"]
mod list;

use common::pairs::{self, command};
use common::stacks::Outcome;
use common::tools::{Folder, is_long, skip, tools};
use common::verdict::Totals;
use list::{PROGRAMS, Program};

/// Stacks compared, in all.
const SAMPLE: u64 = 100_000;

#[test]
fn real_programs_are_recorded_exactly() {
    if !is_long() {
        return skip("real programs: MEMLOG_LONG=1 runs them");
    }
    let only = std::env::var("MEMLOG_ONLY").ok();
    let (mut ran, mut equal) = (0u32, 0u32);
    let (mut stacks, mut problems, mut skipped) = (Outcome::default(), Vec::new(), 0);
    for program in PROGRAMS {
        if only.as_ref().is_some_and(|only| only != program.name) {
            continue;
        }
        let found = run(program, &mut stacks);
        match found {
            Ok(totals) => {
                ran += 1;
                equal += u32::from(totals.problems.is_empty());
                problems.extend(totals.problems);
            }
            Err(reason) => {
                skipped += 1;
                skip(&format!("{}: {reason}", program.name));
            }
        }
    }
    println!(
        "SCORE real programs equal to the second recorder {equal}/{ran}: {} stacks compared, {} frames",
        stacks.compared, stacks.frames
    );
    for (kind, (count, first)) in &stacks.differences {
        problems.push(format!("{count} stacks differ {kind}\n{first}"));
    }
    if skipped == 0 && only.is_none() && tools().gold_stacks.is_some() {
        assert!(stacks.compared >= SAMPLE, "only {} stacks", stacks.compared);
    }
    let count = problems.len();
    assert!(count == 0, "{count} problems:\n{}", problems.join("\n"));
}

/// Runs one; nothing where it is not installed.
fn run(program: &Program, stacks: &mut Outcome) -> Result<Totals, String> {
    let folder = Folder::new(program.name);
    let place = folder.path().join("work");
    std::fs::create_dir_all(&place).expect("a folder to work in");
    let (path, args) = (program.prepare)(&place)?;
    let tools = tools();
    let gold = tools.gold_stacks.as_ref().unwrap_or(&tools.gold);
    let mut command = command(&path, &folder, gold);
    command
        .args(&args)
        .current_dir(&place)
        .env("HOME", &place)
        .env("GOLD_STACKS_EVERY", program.every.to_string())
        .envs(program.environment.iter().copied())
        .stdout(std::fs::File::create(place.join("stdout")).expect("a file"));
    if let Ok(input) = std::fs::File::open(place.join("stdin")) {
        command.stdin(input);
    }
    let status = command.status().map_err(|error| error.to_string())?;
    let family = pairs::collect(&folder);
    let mut totals = Totals::default();
    if !status.success() {
        totals.problems.push(format!("it ended with {status}"));
    }
    let execs = |gold: &common::gold::Gold| {
        let mut images = family.pairs.iter().map(|pair| &pair.gold);
        images.any(|later| later.pid == gold.pid && later.image > gold.image)
    };
    println!("{}: {} images", program.name, family.pairs.len());
    totals.take(&family, execs);
    totals.tell();
    let mut outcome = Outcome::default();
    if tools.gold_stacks.is_some() {
        family.pairs.iter().for_each(|pair| outcome.take(pair));
        println!(
            "{:>9} stacks and {} frames compared; libunwind's errors: {:?}; {} kinds of difference",
            outcome.compared,
            outcome.frames,
            outcome.unwind_errors,
            outcome.differences.len(),
        );
    }
    stacks.add(outcome);
    for problem in &mut totals.problems {
        problem.insert_str(0, &format!("{}: ", program.name));
    }
    Ok(totals)
}
