//! What a program told its allocator, and, where that is wanted, the environment that it
//! began with: `memlog info` says both.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::sites::build::GCC;
use crate::sites::{Folder, said};

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/show/told.c")
}

fn built(folder: &Folder, link: &[&str]) -> PathBuf {
    GCC.build_file(folder, &source(), "told", link)
}

/// What it printed, with the log of it.
fn recorded(folder: &Folder, program: &Path, words: &[&str]) -> (PathBuf, String) {
    let log = folder.path(&format!("{}.memlog", words[0]));
    let mut command = folder.memlog(&["record", "-o"]);
    let output = command.arg(&log).arg(program).args(words).output();
    let output = output.expect("it runs");
    assert!(output.status.success(), "{}", said(&output));
    (log, String::from_utf8(output.stdout).expect("text"))
}

fn info(folder: &Folder, log: &Path) -> Value {
    let log = log.to_str().expect("a name");
    serde_json::from_str(&folder.says(&["info", "--json", log])).expect("json")
}

fn calls(info: &Value) -> &[Value] {
    info["mallopts"].as_array().expect("a list")
}

fn child_of(folder: &Folder, log: &Path) -> PathBuf {
    let mut logs = folder.logs("").into_iter();
    logs.rfind(|other| other != log).expect("a child's log")
}

/// Each line of the program is a call.
#[track_caller]
fn are_those_said(info: &Value, said: &[&str]) {
    let told = calls(info).iter().map(|call| {
        let taken = u8::from(call["is_taken"].as_bool().expect("it"));
        format!("{} {} {taken}", call["parameter"], call["value"])
    });
    assert_eq!(told.collect::<Vec<_>>(), said);
    for call in calls(info) {
        let stack = call["stack"].as_array().expect("a stack");
        assert_eq!(stack[0]["function"], "tune", "{call:#}");
        let place = stack[0]["location"].as_str().expect("a place");
        assert!(place.ends_with("told.c:16"), "{place}");
    }
}

#[track_caller]
fn agrees(folder: &Folder, log: &Path, said: &str) {
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines.len(), 6, "{said}");
    let info = info(folder, log);
    are_those_said(&info, &lines);
    let calls = calls(&info);
    assert_eq!(calls[1]["name"], "M_ARENA_MAX");
    assert_eq!(calls[5]["name"], Value::Null);
    assert_eq!(calls[4]["is_taken"], false, "glibc refuses that");
    let threads: Vec<_> = calls.iter().map(|call| &call["thread"]).collect();
    assert_eq!(threads[0], &info["pid"]);
    assert_eq!(threads[0], threads[1]);
    assert_ne!(threads[1], threads[2]);
    assert_eq!(threads[2], threads[5]);
    let text = folder.says(&["info", log.to_str().expect("a name")]);
    for part in [
        "mallopt            M_MMAP_THRESHOLD = 1,048,576 at 0.0",
        "M_PERTURB = -1 at ",
        "M_MXFAST = 1,048,576 (refused) at ",
        "4711 = 3 at ",
        "told.c:16)",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn calls_of_mallopt_are_those_of_the_program() {
    let folder = Folder::new("show-told");
    let program = built(&folder, &["-D_GNU_SOURCE"]);
    let (log, said) = recorded(&folder, &program, &["few"]);
    agrees(&folder, &log, &said);
}

#[test]
fn a_static_program_tells_them_too() {
    let folder = Folder::new("show-told-static");
    let flags = format!("@{}/memlog_s_ld_cmds", folder.recorder().display());
    let program = built(&folder, &["-D_GNU_SOURCE", "-static", &flags]);
    let log = folder.path("static.memlog");
    let mut command = folder.command(&program);
    let output = command
        .env("MEMLOG_OUTPUT", &log)
        .output()
        .expect("it runs");
    agrees(&folder, &log, &String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_child_tells_its_own() {
    let folder = Folder::new("show-told-forked");
    let program = built(&folder, &["-D_GNU_SOURCE"]);
    let (log, said) = recorded(&folder, &program, &["forked"]);
    let lines: Vec<_> = said.lines().collect();
    let own = info(&folder, &log);
    are_those_said(&own, &lines[..2]);
    are_those_said(&info(&folder, &child_of(&folder, &log)), &lines[2..]);
}

/// A program that does it all the time does not fill its log.
#[test]
fn calls_in_a_loop_are_cut() {
    let folder = Folder::new("show-told-many");
    let program = built(&folder, &["-D_GNU_SOURCE"]);
    let (log, said) = recorded(&folder, &program, &["many"]);
    // Its child has a log of its own, and so room.
    let lines: Vec<_> = said.lines().collect();
    are_those_said(&info(&folder, &child_of(&folder, &log)), &lines);
    let info = info(&folder, &log);
    assert_eq!(calls(&info).len(), 1_000);
    assert_eq!(calls(&info)[999]["value"], 999);
    let text = folder.says(&["info", log.to_str().expect("a name")]);
    assert!(text.contains("984 more calls; --json has them"), "{text}");
    assert!(
        text.contains("only the first 1,000 calls are recorded"),
        "{text}"
    );
}

/// As it began: what the program makes of it later is not in the log.
#[test]
fn the_environment_is_kept_where_it_is_wanted() {
    let folder = Folder::new("show-told-environment");
    let program = built(&folder, &["-D_GNU_SOURCE"]);
    let long = format!("TOLD_LONG={}", "x".repeat(20_000));
    for options in [&["--keep-environment"][..], &[]] {
        let log = folder.path(&format!("{}.memlog", options.len()));
        let mut command = folder.memlog(&["record"]);
        command.args(options).arg("-o").arg(&log).arg(&program);
        command
            .env("TOLD_BEGAN", "a secret=\n")
            .env("TOLD_EMPTY", "");
        command.env("TOLD_LONG", &long["TOLD_LONG=".len()..]);
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{}", said(&output));
        let told = info(&folder, &log);
        let kept: Vec<_> = told["environment"]
            .as_array()
            .expect("a list")
            .iter()
            .collect();
        if options.is_empty() {
            assert!(kept.is_empty(), "{}", kept.len());
            let bytes = std::fs::read(&log).expect("a log");
            assert!(!bytes.windows(8).any(|part| part == b"a secret"));
            continue;
        }
        let has = |text: &str| kept.iter().filter(|one| **one == text).count();
        assert_eq!(has("TOLD_BEGAN=a secret=\\n"), 1, "{}", kept.len());
        assert_eq!(has("TOLD_EMPTY="), 1);
        assert_eq!(has(&long[..4_096]), 1, "it is cut");
        let later = |one: &&&Value| {
            one.as_str()
                .is_some_and(|one| one.starts_with("TOLD_LATER"))
        };
        assert_eq!(kept.iter().filter(later).count(), 0);
        let text = folder.says(&["info", log.to_str().expect("a name")]);
        assert!(text.contains("\nvariable           TOLD_EMPTY="), "{text}");
    }
}

/// A forked child's log begins small: what it needs of its parent comes first.
#[test]
fn a_child_is_not_crowded_by_the_environment() {
    let folder = Folder::new("show-told-crowded");
    let program = built(&folder, &["-D_GNU_SOURCE"]);
    let log = folder.path("crowded.memlog");
    let mut command = folder.memlog(&["record", "--keep-environment", "-o"]);
    command.arg(&log).arg(&program).arg("forked");
    for number in 0..200 {
        command.env(format!("TOLD_{number}"), "y".repeat(4_000));
    }
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", said(&output));
    let [parent, child] = [&log, &child_of(&folder, &log)].map(|log| info(&folder, log));
    let count = |info: &Value| info["environment"].as_array().expect("a list").len();
    assert!(count(&parent) > 200);
    assert_eq!(count(&child), 0);
    assert!(child["parent_log"].is_string(), "{child:#}");
    assert_eq!(child["missing_parent"], Value::Null);
}
