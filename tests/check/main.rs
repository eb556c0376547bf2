//! The enemy of `memlog check`: programs whose growth and leaks are planted, limits at the
//! byte, and what reads its reports elsewhere.
//!
//! * [`limits`]: limits against `stats`, `leaks`, `table` and a twin; exit codes; children
//! * [`gaps`]: logs that lack events or blocks
//! * `interrupt`: Ctrl-C
//! * [`budgets`]: budgets in a file, and what is wrong with them
//! * [`baseline`]: noisy programs that pass, planted growth that does not
//! * [`readers`]: JUnit, SARIF, annotations and Markdown as their readers see them
//! * [`examples`]: what doc/examples has: CTest, cargo test; and the plugin of pytest

mod baseline;
mod budgets;
mod examples;
mod gaps;
mod interrupt;
mod limits;
mod readers;
#[path = "../sites/mod.rs"]
mod sites;
#[path = "../answers/twin.rs"]
#[allow(dead_code, reason = "one test uses a part of it")]
mod twin;

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use sites::build::{Compiler, GCC};
use sites::{Folder, said};

/// A file beside this one.
fn source(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check");
    here.join(name)
}

/// The program with growth and leaks.
fn planted(folder: &Folder) -> PathBuf {
    built(folder, &GCC, "planted.c")
}

fn built(folder: &Folder, compiler: &Compiler, name: &str) -> PathBuf {
    let program = name.trim_end_matches(".c");
    let there = folder.path(program);
    match there.exists() {
        true => there,
        false => compiler.build_file(folder, &source(name), program, &["-D_GNU_SOURCE"]),
    }
}

/// `memlog check` with these words, which blanks separate; logs that it keeps go with the
/// folder.
fn check(folder: &Folder, words: &str) -> Output {
    check_words(folder, &words.split(' ').collect::<Vec<_>>())
}

fn check_words(folder: &Folder, words: &[&str]) -> Output {
    let mut command = folder.memlog(&[&["check"], words].concat());
    command.env("TMPDIR", folder.folder("tmp"));
    command.output().expect("memlog runs")
}

#[track_caller]
fn exits(output: &Output, code: i32) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(code), "{text}{}", said(output));
    text
}

/// The same as JSON.
#[track_caller]
fn told(folder: &Folder, words: &str, code: i32) -> Value {
    let words = format!("--format json -o out.json {words}");
    exits(&check(folder, &words), code);
    let text = std::fs::read_to_string(folder.path("out.json")).expect("a report");
    serde_json::from_str(&text).expect("JSON")
}

/// The checks of the first program.
fn checks(report: &Value) -> &[Value] {
    let checks = report["programs"][0]["checks"].as_array();
    checks.expect("checks").as_slice()
}

/// By measure and state.
fn states(report: &Value) -> Vec<(&str, &str)> {
    let pairs = checks(report).iter();
    let pairs = pairs.map(|one| (one["measure"].as_str(), one["state"].as_str()));
    pairs
        .filter_map(|(measure, state)| Some((measure?, state?)))
        .collect()
}

/// The log of the program with these words.
fn log_of(folder: &Folder, program: &Path, words: &str, name: &str) -> PathBuf {
    let log = folder.path(name);
    let mut command = folder.memlog(&["record".as_ref(), "-o".as_ref(), log.as_os_str()]);
    let output = command.arg(program).args(words.split(' ')).output();
    let output = output.expect("it runs");
    assert!(log.exists(), "{}", said(&output));
    log
}
