//! The callers of a program's large blocks, by name, as `memlog dump` has them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Smaller blocks are not looked at.
pub const FIRST_SIZE: u64 = 100_000;

/// A program that was recorded.
pub struct RecordedRun {
    /// What it printed.
    pub said: String,
    /// Of each block its callers, innermost first.
    pub stacks: BTreeMap<u64, Vec<String>>,
    /// How many stacks were cut.
    pub cut: u64,
    pub stats: serde_json::Value,
}

/// What a command prints that goes well.
#[track_caller]
pub fn run(command: &mut Command) -> String {
    let done = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {said}");
    String::from_utf8(done.stdout).expect("text")
}

pub fn memlog() -> Command {
    Command::new(env!("CARGO_BIN_EXE_memlog"))
}

/// Records a program with these settings.
pub fn recorded(folder: &Path, settings: &[(&str, &str)], program: &Path) -> RecordedRun {
    let log = folder.join("log.memlog");
    // The same again would be the next log beside it.
    let _ = std::fs::remove_file(&log);
    let mut record = memlog();
    record.envs(settings.iter().copied()).args(["record", "-o"]);
    let said = run(record.args([&log, program]));
    let dump = run(memlog().arg("dump").arg(&log));
    let stats = run(memlog().args(["stats", "--json"]).arg(&log));
    let stats: serde_json::Value = serde_json::from_str(&stats).expect("JSON");
    RecordedRun {
        said,
        stacks: dump.lines().filter_map(stack).collect(),
        cut: stats["cut_stacks"].as_u64().expect("a number"),
        stats,
    }
}

/// `M: SIZE ADDRESS`, five figures, and frames of the kind `FILE (NAME+OFFSET) ...`.
fn stack(line: &str) -> Option<(u64, Vec<String>)> {
    let mut fields = line.strip_prefix("M: ")?.split('\t');
    let size: u64 = fields.next()?.split(' ').next()?.parse().ok()?;
    let name = |frame: &str| {
        let name = frame.split_once('(')?.1.split(['+', ')']).next()?;
        Some(name.to_owned())
    };
    let frames = fields.skip(1).filter_map(name).collect();
    (size >= FIRST_SIZE).then_some((size, frames))
}
