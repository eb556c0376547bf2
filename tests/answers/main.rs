//! The enemy of the commands that ask the table of a log's blocks: every figure of
//! theirs is judged by somebody who does not use that table.
//!
//! * [`twin`]: blocks by the lines of `memlog dump`, in the plainest way
//! * [`culled`]: logs whose recorder left blocks out
//! * [`diff`]: what grew from one build to another
//! * [`exports`]: what other tools are given
//! * [`figures`]: what the commands say of all blocks, against the twin
//! * [`beside`]: all blocks of a group beside chosen ones
//! * [`filters`]: expressions made at random, block by block
//! * [`freed`]: trees of who freed
//! * [`graphs`]: files for gprof2dot
//! * [`imports`]: files of other tools, read as logs
//! * [`imports_forms`]: the other tools' files, against those who read them
//! * [`snapshots`]: `report --every`, against a twin with stacks
//! * [`list`]: single blocks
//! * [`times`]: when the blocks of each place of a tree came
//! * [`trees`]: trees and pictures of chosen blocks, and moments in all their forms
//! * [`leaks`]: what grew, and suppressions, against LeakSanitizer
//! * [`statics`]: static initialisers
//! * [`truth`]: functions, types and chains, against what the program itself says
//! * [`maps`]: what a program mapped, against what it says itself
//! * [`narrow`]: the same pages on narrow terminals
//! * [`odd`]: forks, bounded, cut, killed, growing and empty logs, and the goldens
//! * [`owners`]: who asked and who freed, past functions that only pass on
//! * [`packed`]: packed logs, where no file is that has the names
//! * [`peers`]: heaptrack, massif and DHAT, where they ask the same
//! * [`programs`]: all of that on logs of programs that people run
//! * [`ranks`]: what the ranks of a job held, against tables of each, and an engine
//! * [`replay`]: the same calls under other allocators
//! * [`resident`]: what resident memory is for, against what the program asks the kernel
//! * [`sidecar`]: the table that is kept beside a log, and those who tamper with it
//!
//! `MEMLOG_LONG=1` tries more cases, `MEMLOG_SEED=N` others.

mod beside;
mod culled;
mod diff;
mod exports;
mod figures;
mod filters;
mod freed;
mod graphs;
mod imports;
mod imports_forms;
mod imports_linked;
mod imports_unknown;
mod leaks;
mod list;
mod maps;
mod narrow;
mod odd;
mod owners;
mod packed;
mod peers;
mod programs;
mod protobuf;
mod ranks;
#[path = "../programs/list.rs"]
#[allow(dead_code, reason = "only the second recorder compares stacks")]
mod real;
#[path = "../dot/recipe.rs"]
#[allow(dead_code, reason = "each test uses a part of it")]
mod recipe;
mod replay;
mod resident;
#[path = "../runnable/mod.rs"]
mod runnable;
mod sidecar;
#[path = "../sites/mod.rs"]
mod sites;
mod snapshots;
mod statics;
mod stripped;
mod times;
mod trees;
mod truth;
mod twin;

use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;
use sites::build::{Compiler, GCC};
use sites::{Folder, said};
use twin::Twin;

/// Every command but `where` and `annotate`, without the log; first those that look no
/// names up.
const COMMANDS: &[&str] = &[
    "table --by size",
    "table --by thread",
    "table --by kind",
    "histogram size",
    "histogram lifetime",
    "histogram lifetime-events",
    "histogram size-lifetime",
    "timeline",
    "timeline --points 1",
    "threads",
    "maps --by kind",
    "maps --list",
    "chains",
    "table --by type --sort below",
    "leaks",
    "leaks --list --sort lifetime",
    "temporary",
    "table --by stack",
    "table --by line --at rss-peak",
    "table --by module --at heap-peak",
    "table --by file --at end",
    "fragmentation",
    "function main",
];

/// So many of them, where each log of many is asked: names take most of the time.
const FEW: usize = 14;

fn is_long() -> bool {
    std::env::var_os("MEMLOG_LONG").is_some_and(|value| value == "1")
}

fn first_seed() -> u64 {
    let seed = std::env::var("MEMLOG_SEED").ok();
    seed.map_or(1, |seed| seed.parse().expect("a seed is a number"))
}

/// A file beside this one, compiled.
fn built(folder: &Folder, compiler: &Compiler, source: &str, name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers");
    compiler.build_file(folder, &here.join(source), name, &["-D_GNU_SOURCE"])
}

/// `known` with these words, recorded as `options` say: the log, and what it printed.
fn recorded(folder: &Folder, options: &[&str], words: &str) -> (PathBuf, String) {
    let program = folder.path("known");
    if !program.exists() {
        built(folder, &GCC, "known.c", "known");
    }
    let log = folder.path(&format!("{}.memlog", words.replace(' ', "-")));
    let mut command = folder.memlog(&["record"]);
    command.args(options).arg("-o").arg(&log).arg(program);
    let output = command.args(words.split(' ')).output().expect("it runs");
    assert!(log.exists(), "{words}: {}", said(&output));
    (log, String::from_utf8(output.stdout).expect("text"))
}

/// The answer to a question, whose words are separated by blanks, of a log.
#[track_caller]
fn ask(folder: &Folder, log: &Path, question: &str) -> Value {
    ask_words(folder, log, &question.split(' ').collect::<Vec<_>>())
}

#[track_caller]
fn ask_words(folder: &Folder, log: &Path, question: &[&str]) -> Value {
    let log = log.to_str().expect("a name");
    let text = folder.says(&[question, &["--json", log]].concat());
    serde_json::from_str(&text).expect("JSON")
}

/// All blocks that an address was in.
#[track_caller]
fn ask_where(folder: &Folder, log: &Path, address: u64) -> Value {
    let (log, address) = (log.to_str().expect("a name"), format!("{address:#x}"));
    let text = folder.says(&["where", "--json", "--top", "1000000", log, &address]);
    serde_json::from_str(&text).expect("JSON")
}

fn twin(folder: &Folder, log: &Path) -> Twin {
    let mut command = folder.memlog(&["dump", "--no-symbols", "--threads"]);
    let mut child = command
        .arg(log)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut twin = Twin::of(BufReader::new(child.stdout.take().expect("a pipe")));
    assert!(child.wait().expect("it ends").success());
    // A log may end a step of the clock after its last event.
    let end = twin::ns(&ask(folder, log, "stats")["duration_seconds"].to_string());
    assert!(end >= twin.end.0, "{end}");
    twin.end.0 = end;
    twin
}

#[track_caller]
fn number(of: &Value, key: &str) -> u64 {
    let number = of[key].as_u64();
    number.unwrap_or_else(|| panic!("{key} is no number: {}", of[key]))
}

/// Bytes and blocks.
#[track_caller]
fn pair(of: &Value) -> (u64, u64) {
    (number(of, "bytes"), number(of, "blocks"))
}

fn rows(of: &Value) -> &[Value] {
    of["rows"].as_array().map_or(&[], Vec::as_slice)
}

/// Bytes and blocks of all rows.
fn sum(of: &Value) -> (u64, u64) {
    let all = rows(of).iter().map(pair);
    all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

/// The same of all blocks, as rows and as a total.
#[track_caller]
fn total(of: &Value) -> (u64, u64) {
    assert_eq!(sum(of), pair(of), "the rows' sum");
    pair(of)
}

/// Numbers that look random and are the same for the same seed.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        let factor = 6_364_136_223_846_793_005_u64;
        self.0 = self
            .0
            .wrapping_mul(factor)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}
