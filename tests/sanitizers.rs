//! Programs under sanitizers: they run as without memlog and find what they
//! find, whoever preloads the recorder; and where the sanitizer's runtime is a
//! library, what they allocate is recorded.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::tools::{Folder, skip, tools};
use serde_json::Value;

/// A compiler, how it links a runtime, and whether that is a library then.
struct Way {
    compiler: &'static str,
    /// `%` is the runtime's short name.
    flag: &'static str,
    is_shared: bool,
}

const WAYS: [Way; 4] = [
    Way {
        compiler: "g++",
        flag: "",
        is_shared: true,
    },
    Way {
        compiler: "g++",
        flag: "-static-lib%",
        is_shared: false,
    },
    Way {
        compiler: "clang++",
        flag: "",
        is_shared: false,
    },
    Way {
        compiler: "clang++",
        flag: "-shared-libsan",
        is_shared: true,
    },
];

/// A sanitizer: its flag, its runtime, and what it finds.
struct Sanitizer {
    name: &'static str,
    runtime: &'static str,
    finds: &'static [&'static str],
}

const SANITIZERS: [Sanitizer; 4] = [
    Sanitizer {
        name: "address",
        runtime: "asan",
        finds: &["after", "leak"],
    },
    Sanitizer {
        name: "thread",
        runtime: "tsan",
        finds: &["race"],
    },
    Sanitizer {
        name: "leak",
        runtime: "lsan",
        finds: &["leak"],
    },
    Sanitizer {
        name: "undefined",
        runtime: "ubsan",
        finds: &["shift"],
    },
];

/// Nothing where there is no such runtime.
fn build(folder: &Folder, way: &Way, sanitizer: &Sanitizer) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("victims/sanitized.cpp");
    let program = folder.path().join("sanitized");
    let mut command = Command::new(way.compiler);
    command.args(["-g", "-O1", "-pthread", "-fno-omit-frame-pointer"]);
    command.arg(format!("-fsanitize={}", sanitizer.name));
    let flag = way.flag.replace('%', sanitizer.runtime);
    command.args(Some(flag).filter(|flag| !flag.is_empty()));
    // Where a library's runtime lies is known to its compiler only.
    if way.flag == "-shared-libsan" {
        let told = Command::new(way.compiler)
            .arg("-print-file-name=libclang_rt.asan-x86_64.so")
            .output();
        let path = String::from_utf8(told.ok()?.stdout).ok()?;
        let place = Path::new(path.trim()).parent()?;
        command.arg(format!("-Wl,-rpath,{}", place.display()));
    }
    let built = command.arg(source).arg("-o").arg(&program).output();
    let is_built = built.is_ok_and(|output| output.status.success());
    is_built.then_some(program)
}

/// As it runs by itself, or in its own folder under memlog.
fn run(command: &mut Command) -> Output {
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("MEMLOG_") || name.ends_with("SAN_OPTIONS") {
            command.env_remove(name);
        }
    }
    command.output().expect("it starts")
}

/// What kind of thing was found, without places and numbers.
fn finding(output: &Output) -> Option<String> {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut lines = text.lines();
    let found = |line: &&str| line.starts_with("SUMMARY: ") || line.contains("runtime error: ");
    let line = lines.find(found)?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_place = |word: &&&str| !word.contains(['/', '(', ':']) || word.ends_with("Sanitizer:");
    Some(
        words
            .iter()
            .filter(is_place)
            .take(3)
            .copied()
            .collect::<Vec<_>>()
            .join(" "),
    )
}

#[track_caller]
fn same(native: &Output, seen: &Output, what: &str) {
    let err = String::from_utf8_lossy(&seen.stderr);
    assert_eq!(native.status.code(), seen.status.code(), "{what}: {err}");
    assert_eq!(native.stdout, seen.stdout, "{what}: {err}");
    assert_eq!(finding(native), finding(seen), "{what}: {err}");
}

/// Allocations in the logs of a folder, of which none is to be missing.
#[track_caller]
fn recorded(folder: &Path, what: &str) -> u64 {
    let logs = std::fs::read_dir(folder).expect("logs").flatten();
    let logs = logs.map(|log| log.path());
    logs.filter(|path| path.extension().is_some_and(|end| end == "memlog"))
        .map(|path| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_memlog"));
            let output = run(command.args(["stats", "--json"]).arg(&path));
            let stats: Value = serde_json::from_slice(&output.stdout).expect("JSON");
            assert_eq!(stats["lost_events"], 0, "{what}");
            assert_eq!(stats["allocations_of_live_addresses"], 0, "{what}");
            stats["allocations"].as_u64().expect("a number")
        })
        .sum()
}

fn check(way: &Way, sanitizer: &Sanitizer) {
    let what = format!("{} {} {}", way.compiler, sanitizer.name, way.flag);
    let folder = Folder::new("sanitized");
    let Some(program) = build(&folder, way, sanitizer) else {
        return skip(&format!("sanitizers, {what}: no such runtime here"));
    };
    for how in [&["fine"], sanitizer.finds].concat() {
        let native = run(Command::new(&program).arg(how));
        let is_found = finding(&native).is_some();
        let is_fine = how != "fine" || native.status.success();
        if !is_fine || is_found != (how != "fine") {
            skip(&format!("sanitizers, {what}, {how}: it fails by itself"));
            continue;
        }
        let what = format!("{what}, {how}");
        let logs = Folder::new("sanitized-logs");
        let mut command = Command::new(env!("CARGO_BIN_EXE_memlog"));
        command
            .arg("record")
            .arg("-o")
            .arg(logs.path().join("x.memlog"));
        let by_record = run(command.arg("--").arg(&program).arg(how));
        same(&native, &by_record, &what);
        let by_hand = Folder::new("sanitized-by-hand");
        let mut command = Command::new(&program);
        command.env("LD_PRELOAD", &tools().memlog).arg(how);
        same(
            &native,
            &run(command.env("MEMLOG_DIR", by_hand.path())),
            &what,
        );
        // The thread's thousand and more; C++'s own operators where record
        // hooked them.
        // clang has no library of the others.
        let is_shared = way.is_shared && (way.flag.is_empty() || sanitizer.runtime == "asan");
        let has_own_malloc = sanitizer.runtime != "ubsan" && !is_shared;
        if !has_own_malloc {
            assert!(recorded(logs.path(), &what) >= 2000, "{what}");
            assert!(recorded(by_hand.path(), &what) >= 1000, "{what}");
        }
    }
}

#[test]
fn programs_run_and_find_as_without_memlog() {
    for way in &WAYS {
        for sanitizer in &SANITIZERS {
            check(way, sanitizer);
        }
    }
}

/// A runtime of before it could be told not to be the first: what it would say
/// and end with comes beforehand, and from us.
#[test]
fn a_runtime_that_must_be_the_first_is_refused() {
    let folder = Folder::new("sanitized-old");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("empty.c"), "int it;\n").expect("a source");
    std::fs::write(
        at("main.c"),
        "extern int it; int main(void) { return it; }\n",
    )
    .expect("one");
    let cc = |words: &[&str]| {
        let built = run(Command::new("cc").current_dir(folder.path()).args(words));
        assert!(built.status.success(), "{built:?}");
    };
    cc(&[
        "-shared",
        "-fPIC",
        "empty.c",
        "-Wl,-soname,libasan.so.3",
        "-o",
        "libasan.so.3",
    ]);
    cc(&[
        "main.c",
        "./libasan.so.3",
        "-Wl,-rpath,$ORIGIN",
        "-o",
        "old",
    ]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_memlog"));
    let output = run(command
        .arg("record")
        .arg(at("old"))
        .current_dir(folder.path()));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("libasan.so.3"), "{stderr}");
    assert!(stderr.contains("must be the first library"), "{stderr}");
    assert!(stderr.contains("without -fsanitize=address"), "{stderr}");
    let is_log = |name: &str| name.ends_with(".memlog");
    let left = std::fs::read_dir(folder.path())
        .expect("the folder")
        .flatten();
    let mut names = left.map(|file| file.file_name().to_string_lossy().into_owned());
    assert!(!names.any(|name| is_log(&name)));
}
