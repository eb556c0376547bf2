//! Code without unwind tables and without frame pointers: a stack is a part of
//! what it is with tables, and says that it is cut, or all of it.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use common::tools::{Folder, skip};

const FIRST_SIZE: u64 = 100_000;
const WITHOUT: [&str; 3] = [
    "-fno-asynchronous-unwind-tables",
    "-fno-unwind-tables",
    "-fno-exceptions",
];

/// Of each block its callers, innermost first, and how many stacks were cut.
struct Seen {
    stacks: BTreeMap<u64, Vec<String>>,
    cut: u64,
}

fn run(command: &mut Command) -> String {
    let done = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {said}");
    String::from_utf8(done.stdout).expect("text")
}

fn memlog() -> Command {
    Command::new(env!("CARGO_BIN_EXE_memlog"))
}

fn seen(folder: &Path, compiler: &str, flags: &[&str]) -> Seen {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/untabled.c");
    let (program, log) = (folder.join("program"), folder.join("log.memlog"));
    run(Command::new(compiler)
        .args(flags)
        .args(["-w", "-o"])
        .args([&program, &source]));
    // The same again would be the next log beside it.
    let _ = std::fs::remove_file(&log);
    run(memlog().arg("record").arg("-o").arg(&log).arg(&program));
    let dump = run(memlog().arg("dump").arg(&log));
    let stacks = dump.lines().filter_map(stack).collect();
    let stats = run(memlog().args(["stats", "--json"]).arg(&log));
    let stats: serde_json::Value = serde_json::from_str(&stats).expect("JSON");
    let cut = stats["cut_stacks"].as_u64().expect("a number");
    Seen { stacks, cut }
}

/// `M: SIZE ADDRESS`, five figures, and frames of the kind `FILE (NAME+OFFSET) ...`.
fn stack(line: &str) -> Option<(u64, Vec<String>)> {
    let mut fields = line.strip_prefix("M: ")?.split('\t');
    let size: u64 = fields.next()?.split(' ').next()?.parse().ok()?;
    let name = |frame: &str| {
        let name = frame.split_once('(')?.1.split(['+', ')']).next()?;
        // The compiler's parts of a function are that function.
        Some(name.split('.').next()?.to_owned())
    };
    let frames = fields.skip(1).filter_map(name).collect();
    (size >= FIRST_SIZE).then_some((size, frames))
}

#[test]
fn nobody_is_named_who_is_not_there() {
    if std::env::consts::ARCH != "x86_64" {
        return skip("untabled: elsewhere no code is read");
    }
    for compiler in ["gcc", "clang"] {
        if Command::new(compiler).arg("--version").output().is_err() {
            skip(&format!("untabled: there is no {compiler}"));
            continue;
        }
        for level in ["-O1", "-O2", "-O3", "-Os"] {
            let folder = Folder::new("untabled");
            let twin = seen(folder.path(), compiler, &[level]);
            let ours = seen(folder.path(), compiler, &[&[level], &WITHOUT[..]].concat());
            assert_eq!(twin.cut, 0, "{compiler} {level}");
            assert!(twin.stacks.len() > 60, "{compiler} {level}");
            let mut short = 0;
            for (size, wanted) in &twin.stacks {
                let got = ours.stacks.get(size).expect("the same blocks");
                assert!(
                    wanted.starts_with(got) && !got.is_empty(),
                    "{compiler} {level}, {size} bytes: {got:?}, with tables {wanted:?}"
                );
                short += u64::from(got.len() < wanted.len());
            }
            assert!(
                short <= ours.cut,
                "{compiler} {level}: {short} stacks are short, {} are said to be",
                ours.cut
            );
            println!(
                "{compiler} {level}: {short} of {} stacks are cut",
                twin.stacks.len()
            );
        }
    }
}
