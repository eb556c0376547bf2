//! doc/TUTORIAL.md: its first program prints what is written there.

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::SETTINGS;
use crate::sites::build::GCC;
use crate::sites::{Folder, said};

const TUTORIAL: &str = include_str!("../../doc/TUTORIAL.md");

/// What such lines say is the same on every machine; other lines have times, figures of
/// the kernel, and paths.
const SAME: &[&str] = &[
    "server.c:",
    "copy_of",
    "live heap at the end",
    "allocations in the whole run",
    "threshold",
    "came and went",
    ", by ",
    "end_live",
    ", limit ",
    "Creating",
];

/// Commands in the order in which they are told, with what stands below each.
fn commands(part: &str) -> Vec<(&str, Vec<&str>)> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for block in part.split("```\n").skip(1).step_by(2) {
        for line in block.lines() {
            match (line.strip_prefix("$ "), found.last_mut()) {
                (Some(command), _) => found.push((command, Vec::new())),
                (None, Some((_, below))) => below.push(line),
                (None, None) => {}
            }
        }
    }
    found
}

#[test]
fn the_tutorials_server_says_what_is_written() {
    if !GCC.is_here("the tutorial") {
        return;
    }
    let folder = Folder::new("show-tutorial");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    symlink(root.join("victims"), folder.path("victims")).expect("ln");
    let bin = folder.folder("bin");
    for name in ["memlog", "memlog2dot"] {
        symlink(env!("CARGO_BIN_EXE_memlog"), bin.join(name)).expect("ln");
    }
    let path = std::env::var("PATH").expect("PATH");
    let (_, part) = TUTORIAL.split_once("\n## 1. ").expect("the server");
    let (part, _) = part.split_once("\n## 2. ").expect("its end");
    let mut compared = 0;
    for (line, below) in commands(part) {
        let mut command = folder.command("sh");
        for name in SETTINGS {
            command.env_remove(name);
        }
        command.env("PATH", format!("{}:{path}", bin.display()));
        let output = command.args(["-c", line]).output().expect("a shell");
        assert!(output.status.success(), "{line}: {}", said(&output));
        let text = String::from_utf8(output.stdout).expect("text");
        let is_same = |line: &&str| SAME.iter().any(|word| line.contains(word));
        for told in below.into_iter().filter(is_same) {
            assert!(
                text.lines().any(|line| line == told),
                "{line} does not print\n{told}\nbut\n{text}"
            );
            compared += 1;
        }
    }
    assert!(compared > 30, "{compared}");
}
